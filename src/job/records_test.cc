#include "job/records.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

const JobId kJob{sha256(as_bytes("job"))};

TEST(Records, KeysComeBackAsTheyWere) {
  for (const RecordKind kind : {RecordKind::job, RecordKind::thread, RecordKind::output, RecordKind::kept, RecordKind::determinants,
                                RecordKind::consumer_balance}) {
    const RecordKey key{.kind = kind, .job = kJob, .thread = ThreadId{77}, .number = 1u << 20};
    const RecordKey read = RecordKey::decode(key.encode()).value();
    EXPECT_EQ(read.encode(), key.encode());
    EXPECT_EQ(read.job, kJob);
  }
}

TEST(Records, KeysOfAThreadAscend) {
  const auto effect = [](std::uint64_t sequence) {
    return RecordKey{.kind = RecordKind::determinants, .job = kJob, .thread = ThreadId{5}, .number = sequence}.encode();
  };
  EXPECT_LT(effect(1), effect(2));
  EXPECT_LT(effect(255), effect(256));
  EXPECT_LT(effect(65535), effect(1u << 30));
}

TEST(Records, OtherBytesAreNoKey) {
  EXPECT_EQ(RecordKey::decode("").error().kind, Kind::corrupt);
  EXPECT_EQ(RecordKey::decode("Jshort").error().kind, Kind::corrupt);
  EXPECT_EQ(RecordKey::decode("X" + kJob.bytes()).error().kind, Kind::corrupt);
}

}  // namespace
}  // namespace gw::job
