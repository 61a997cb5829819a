#include "node/jobs/output_reader.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/rng.h"
#include "node/disk/segment_store.h"
#include "os/files/file.h"

namespace gw::node {
namespace {

using job::EffectKind;
using job::ThreadId;

class OutputReaderTest : public testing::Test {
 protected:
  void print(ThreadId thread, const std::string& bytes, EffectKind kind = EffectKind::output) {
    job::EffectEntry entry{.header = {.thread = thread, .epoch = 1, .sequence = ++sequence_[thread], .kind = kind}, .bytes = bytes};
    entry.header.bytes = static_cast<std::uint32_t>(bytes.size());
    end_ = store_.append(job_, end_, entry).value();
    if (kind == EffectKind::output) printed_[thread] += bytes;
  }
  OutputReader::Request request(std::uint64_t offset, std::uint64_t limit) const {
    return {.job = job_, .offset = offset, .limit = limit, .over = true, .end = end_};
  }

  const job::JobId job_{sha256(as_bytes("a job"))};
  os::TempDir folder_ = os::TempDir::make().value();
  SegmentStore store_ = SegmentStore::open(folder_.path()).value();
  OutputReader reader_{folder_.path()};
  segment::Position end_;
  std::uint32_t tasks_ = 1;
  std::map<ThreadId, std::uint64_t> sequence_;
  std::map<ThreadId, std::string> printed_;
};

TEST_F(OutputReaderTest, CutsAtTheBordersAsked) {
  print(job::kMainThread, "aaaa");
  print(job::kMainThread, "never seen", EffectKind::errors);
  print(job::kMainThread, "bbbb");
  EXPECT_EQ(reader_.read(request(0, 100)).value().bytes, "aaaabbbb");
  EXPECT_EQ(reader_.read(request(3, 2)).value().bytes, "ab");
  EXPECT_FALSE(reader_.read(request(3, 2)).value().end);
  EXPECT_EQ(reader_.read(request(4, 100)).value().bytes, "bbbb");
  EXPECT_TRUE(reader_.read(request(4, 100)).value().end);
  EXPECT_EQ(reader_.read(request(~0ull, 100)).value().bytes, "");
}

TEST_F(OutputReaderTest, GivesTasksInTheirOrderAndFollowsAJobThatGrows) {
  tasks_ = 2;
  const ThreadId first = job::thread_of_task(0, 2), second = job::thread_of_task(1, 2);
  print(second, "second");
  OutputReader::Request asked = request(0, 100);
  asked.over = false;
  asked.final_size = 0;
  EXPECT_EQ(reader_.read(asked).value().bytes, "");
  print(first, "first ");
  print(ThreadId{7777}, " forked");
  EXPECT_EQ(reader_.read(request(0, 100)).value().bytes, "first second forked");
}

TEST_F(OutputReaderTest, GoesOnInATaskThatPrintsMore) {
  tasks_ = 2;
  const ThreadId first = job::thread_of_task(0, 2), second = job::thread_of_task(1, 2);
  print(first, "aa");
  OutputReader::Request asked = request(0, 100);
  asked.over = false;
  asked.final_size = 2;
  EXPECT_EQ(reader_.read(asked).value().bytes, "aa");
  print(second, "dd");
  print(first, "bb");
  asked = request(2, 100);
  asked.over = false;
  asked.final_size = 4;
  EXPECT_EQ(reader_.read(asked).value().bytes, "bb");
  print(first, "cc");
  asked.offset = 1000;
  EXPECT_EQ(reader_.read(asked).value().bytes, "") << "behind the end";
  EXPECT_EQ(reader_.read(request(4, 100)).value().bytes, "ccdd");
  EXPECT_EQ(reader_.read(request(0, 3)).value().bytes, "aab") << "from the beginning again";
}

// Many threads that print in turns, over several strides; read in pieces of any size.
TEST_F(OutputReaderTest, FindsEveryByteByItsMarks) {
  Rng rng(1);
  tasks_ = 5;
  for (int i = 0; i < 3000; ++i)
    print(job::thread_of_task(static_cast<std::uint32_t>(rng.below(tasks_)), tasks_),
          std::string(rng.below(400), static_cast<char>('a' + i % 26)));
  std::string all;
  for (std::uint32_t task = 0; task < tasks_; ++task) all += printed_[job::thread_of_task(task, tasks_)];
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t offset = rng.below(all.size()), limit = rng.below(50'000);
    ASSERT_EQ(reader_.read(request(offset, limit)).value().bytes, all.substr(offset, limit)) << offset << " " << limit;
  }
}

TEST_F(OutputReaderTest, FindsTheThreadsOfAJobThatIsOverBehindItsOutput) {
  print(job::kMainThread, "printed");
  EXPECT_FALSE(reader_.details(job_, end_, 7)) << "that is no list of threads";
  EXPECT_FALSE(reader_.details(job_, end_, 100'000)) << "longer than everything";
  wire::pb::JobRecord record;
  record.add_some()->set_sentence("it trapped");
  const job::EffectEntry entry = job::details_entry(record.SerializeAsString());
  end_ = store_.append(job_, end_, entry).value();
  const auto details = reader_.details(job_, end_, entry.header.bytes);
  ASSERT_TRUE(details) << details.error().detail;
  EXPECT_EQ(details->some(0).sentence(), "it trapped");
  EXPECT_EQ(reader_.read(request(0, 100)).value().bytes, "printed");
}

TEST_F(OutputReaderTest, DamageIsReportedWithItsPosition) {
  print(job::kMainThread, "some bytes");
  ASSERT_TRUE(store_.flush());
  const auto file = segment::file_of(segment::folder_of(folder_.path(), job_), 0);
  {
    std::fstream damaged(file, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(-1, std::ios::end);
    damaged << 'X';
  }
  const auto piece = reader_.read(request(0, 100));
  ASSERT_FALSE(piece);
  EXPECT_EQ(piece.error().kind, Kind::corrupt);
  EXPECT_NE(piece.error().detail.find(file.string()), std::string::npos) << piece.error().detail;
}

}  // namespace
}  // namespace gw::node
