#include "job/authority/charter.h"

#include <gtest/gtest.h>

#include "wire/messages/peer_messages.h"

namespace gw::job {
namespace {

wire::pb::JobCharter example() {
  wire::pb::JobCharter charter;
  charter.set_nonce(7);
  charter.set_first_home(std::string(32, 'h'));
  charter.set_grid(std::string(32, 'g'));
  charter.set_manifest(std::string(32, 'm'));
  return charter;
}

Bytes signed_by_somebody(const wire::pb::JobCharter& charter) {
  return Charter::sign(charter, SigningKey(std::array<std::uint8_t, 32>{1, 2, 3}));
}

TEST(Charter, SaysWhatWasSigned) {
  const Bytes bytes = signed_by_somebody(example());
  const auto charter = Charter::check(bytes);
  ASSERT_TRUE(charter) << charter.error().detail;
  EXPECT_EQ(charter->id().hash, sha256(bytes));
  EXPECT_EQ(charter->first_home().bytes(), std::string(32, 'h'));
  EXPECT_EQ(charter->grid()->bytes(), std::string(32, 'g'));
  EXPECT_EQ(charter->manifest(), wire::hash_of(std::string(32, 'm')));
  EXPECT_EQ(charter->bytes(), as_text(bytes));
  EXPECT_LE(bytes.size(), 300u);
}

TEST(Charter, IsRefusedWithAnyByteFlipped) {
  const Bytes good = signed_by_somebody(example());
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 1;
    EXPECT_FALSE(Charter::check(bad)) << "byte " << i;
  }
}

// Otherwise one charter would make several jobs.
TEST(Charter, HasOneEncoding) {
  Bytes bytes = signed_by_somebody(example());
  bytes.insert(bytes.end(), {0x50, 0x01});  // an unknown field
  EXPECT_FALSE(Charter::check(bytes));
}

TEST(Charter, NamesAreHashes) {
  wire::pb::JobCharter charter = example();
  charter.set_first_home("short");
  EXPECT_EQ(Charter::check(signed_by_somebody(charter)).error().kind, Kind::invalid);
  charter = example();
  charter.set_grid("short");
  EXPECT_EQ(Charter::check(signed_by_somebody(charter)).error().kind, Kind::invalid);
  charter = example();
  charter.clear_manifest();
  EXPECT_EQ(Charter::check(signed_by_somebody(charter)).error().kind, Kind::invalid);
}

}  // namespace
}  // namespace gw::job
