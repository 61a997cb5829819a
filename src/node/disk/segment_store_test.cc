#include "node/disk/segment_store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "os/files/file.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;
using job::EffectKind;

job::EffectEntry entry(std::uint64_t sequence, const std::string& bytes) {
  job::EffectEntry one{.header = {.thread = job::kMainThread,
                                  .epoch = 3,
                                  .stream = {wire::StreamKind::log, sequence << 40},
                                  .sequence = sequence,
                                  .kind = EffectKind::errors,
                                  .digest = sequence * 7},
                       .bytes = bytes};
  one.header.bytes = static_cast<std::uint32_t>(bytes.size());
  return one;
}

class SegmentStoreTest : public testing::Test {
 protected:
  fs::path file(std::uint32_t number = 0) const { return segment::file_of(segment::folder_of(folder_.path(), job_), number); }

  const job::JobId job_{sha256(as_bytes("a job"))};
  os::TempDir folder_ = os::TempDir::make().value();
  SegmentStore store_ = SegmentStore::open(folder_.path()).value();
};

TEST_F(SegmentStoreTest, GivesBackHeadersInTheirOrder) {
  segment::Position end;
  for (std::uint64_t i = 1; i <= 3; ++i) end = store_.append(job_, {}, entry(i, std::string(i, 'x'))).value();
  ASSERT_TRUE(store_.flush());
  const auto headers = SegmentStore::open(folder_.path()).value().headers(job_, end).value();
  ASSERT_EQ(headers.size(), 3u);
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(headers[i - 1], entry(i, std::string(i, 'x')).header);
}

TEST_F(SegmentStoreTest, UnrecordedEntriesAreCutOff) {
  const segment::Position recorded = store_.append(job_, {}, entry(1, "recorded")).value();
  ASSERT_TRUE(store_.append(job_, recorded, entry(2, "lost")));
  ASSERT_TRUE(store_.flush());
  std::ofstream(file(), std::ios::app | std::ios::binary) << "torn";
  SegmentStore again = SegmentStore::open(folder_.path()).value();
  EXPECT_EQ(again.headers(job_, recorded).value().size(), 1u);
  const segment::Position end = again.append(job_, recorded, entry(2, "instead")).value();
  ASSERT_TRUE(again.flush());
  EXPECT_EQ(fs::file_size(file()), end.offset);
  EXPECT_EQ(again.headers(job_, end).value().at(1), entry(2, "instead").header);
}

TEST_F(SegmentStoreTest, AFullSegmentIsFollowedByAnother) {
  const std::string large(10u << 20, 'x');
  segment::Position end;
  for (std::uint64_t i = 1; i <= 8; ++i) end = store_.append(job_, {}, entry(i, large)).value();
  ASSERT_TRUE(store_.flush());
  EXPECT_EQ(end.number, 1u);
  EXPECT_LE(fs::file_size(file(0)), segment::kMaxBytes);
  EXPECT_EQ(store_.headers(job_, end).value().size(), 8u);
}

TEST_F(SegmentStoreTest, AChangedByteOfAHeaderIsFound) {
  const segment::Position end = store_.append(job_, {}, entry(1, "bytes")).value();
  ASSERT_TRUE(store_.flush());
  {
    std::fstream damaged(file(), std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(static_cast<std::streamoff>(segment::kMagic.size() + 9));
    damaged << 'X';
  }
  EXPECT_EQ(store_.headers(job_, end).error().kind, Kind::corrupt);
}

TEST_F(SegmentStoreTest, AMissingSegmentIsNamed) {
  const segment::Position end = store_.append(job_, {}, entry(1, "bytes")).value();
  ASSERT_TRUE(store_.flush());
  fs::remove(file());
  const auto headers = store_.headers(job_, end);
  ASSERT_FALSE(headers);
  EXPECT_NE(headers.error().detail.find("000.seg"), std::string::npos) << headers.error().detail;
}

TEST_F(SegmentStoreTest, ASegmentThatLostItsTailIsFoundBeforeItIsWrittenTo) {
  const segment::Position end = store_.append(job_, {}, entry(1, "bytes that are cut off")).value();
  ASSERT_TRUE(store_.flush());
  fs::resize_file(file(), end.offset - 1);
  EXPECT_EQ(SegmentStore::open(folder_.path()).value().headers(job_, end).error().kind, Kind::corrupt);
}

TEST_F(SegmentStoreTest, DropsAndRetains) {
  const job::JobId other{sha256(as_bytes("another job"))};
  ASSERT_TRUE(store_.append(job_, {}, entry(1, "a")));
  ASSERT_TRUE(store_.append(other, {}, entry(1, "b")));
  ASSERT_TRUE(store_.retain({other}));
  EXPECT_FALSE(fs::exists(file()));
  ASSERT_TRUE(store_.drop(other));
  ASSERT_TRUE(store_.drop(other));
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace gw::node
