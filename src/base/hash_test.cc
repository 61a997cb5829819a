#include "base/hash.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "base/rng.h"

namespace gw {
namespace {

// FIPS 180-2, appendix B.1.
constexpr std::string_view kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Hash, MatchesTheStandard) { EXPECT_EQ(sha256(as_bytes("abc")).hex(), kAbc); }

TEST(Hash, PiecesGiveTheSameAsTheWhole) {
  Sha256 pieces;
  pieces.update(as_bytes("a"));
  pieces.update({});
  pieces.update(as_bytes("bc"));
  EXPECT_EQ(pieces.finish(), sha256(as_bytes("abc")));
}

TEST(Hash, OfBothIsThatOfEach) {
  Bytes bytes(200'000);
  Rng rng(1);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.next());
  const auto expect_each = [&](std::size_t first_size, std::size_t second_size) {
    const ByteView first = ByteView(bytes).first(first_size), second = ByteView(bytes).last(second_size);
    EXPECT_EQ(sha256_both(first, second), std::pair(sha256(first), sha256(second))) << first_size << " and " << second_size;
  };
  for (std::size_t size = 0; size <= 3 * 64; ++size) expect_each(size, size);  // every way to fill the last blocks
  expect_each(65'536, 65'536);
  expect_each(99'999, 99'999);
  expect_each(65'536, 65'535);
}

TEST(Hash, ParsesItsOwnText) {
  EXPECT_EQ(parse_hash(kAbc).value(), sha256(as_bytes("abc")));
  EXPECT_FALSE(parse_hash(kAbc.substr(1)));
  EXPECT_FALSE(parse_hash(std::string(64, 'x')));
  EXPECT_FALSE(parse_hash(std::string(64, 'A')));
}

TEST(Hash, IsAKey) {
  std::unordered_set<Hash256> seen{sha256(as_bytes("a")), sha256(as_bytes("b")), sha256(as_bytes("a"))};
  EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
}  // namespace gw
