#include "node/disk/disk.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>

#include "os/file.h"

namespace {

// What was flushed in this process, in order: a test cannot cut the power, but it can see what would survive.
struct FlushLog {
  std::mutex mutex;
  std::vector<std::string> paths;  // under mutex

  void add(int fd) {
    std::error_code unknown;
    const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), unknown);
    const std::lock_guard lock(mutex);
    paths.push_back(path.string());
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(paths, {});
  }
};

FlushLog& flush_log() {
  static FlushLog log;
  return log;
}

}  // namespace

// In the place of the C library's, for this program and for SQLite.
extern "C" int fdatasync(int fd) {
  flush_log().add(fd);
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}
extern "C" int fsync(int fd) {
  flush_log().add(fd);
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace gw::node {
namespace {

Hash256 hash_of(const std::string& bytes) { return sha256(as_bytes(bytes)); }

class DiskTest : public testing::Test, public Disk::Owner {
 protected:
  void on_disk(peer::DiskDone done) override { answers_.push_back(std::move(done)); }
  void on_disk_failed(const Error& error) override { failure_ = error; }

  void until(const std::function<bool()>& holds) {
    while (!holds()) io_.run_one();
  }
  void wait_for(std::size_t answers) {
    until([&] { return answers_.size() >= answers; });
  }
  bool has(const Hash256& hash) {
    std::optional<bool> found;
    disk_.with_blobs([&](BlobStore& blobs) { disk_.answer([&found, has = blobs.has(hash)] { found = has; }); });
    until([&] { return found.has_value(); });
    return *found;
  }
  void store(const std::string& bytes) { disk_.store({hash_of(bytes), bytes}); }
  job::Persist batch(job::Ticket ticket) { return {ticket, {{"key", std::to_string(ticket)}}}; }

  os::TempDir folder_ = os::TempDir::make().value();
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_{io_.get_executor()};
  std::vector<peer::DiskDone> answers_;
  std::optional<Error> failure_;
  Disk disk_{io_,
             {RecordStore::open(folder_.path() / "records").value(), BlobStore::open(folder_.path() / "blobs").value(),
              SegmentStore::open(folder_.path() / "jobs").value()},
             *this};
};

TEST_F(DiskTest, AnswersBatchesInOrder) {
  for (job::Ticket ticket = 1; ticket <= 200; ++ticket) disk_.persist(batch(ticket));
  wait_for(200);
  for (job::Ticket ticket = 1; ticket <= 200; ++ticket) EXPECT_EQ(std::get<peer::Persisted>(answers_[ticket - 1]).ticket, ticket);
}

TEST_F(DiskTest, ABlobComesBackAsItWas) {
  store("blob");
  disk_.load(hash_of("blob"));
  disk_.load(hash_of("no blob"));
  wait_for(3);
  EXPECT_EQ(std::get<peer::BlobStored>(answers_[0]).hash, hash_of("blob"));
  EXPECT_EQ(std::get<peer::BlobLoaded>(answers_[1]).bytes, "blob");
  EXPECT_EQ(std::get<peer::BlobLoaded>(answers_[2]).bytes, std::nullopt);
}

bool names(const std::vector<std::string>& paths, const std::string& part) {
  return std::ranges::any_of(paths, [&](const std::string& path) { return path.find(part) != std::string::npos; });
}

TEST_F(DiskTest, ABlobIsOnTheMediumWhenItIsAnswered) {
  (void)flush_log().take();
  store("blob");
  wait_for(1);
  const std::string name = hash_of("blob").hex();
  const std::vector<std::string> flushed = flush_log().take();
  EXPECT_TRUE(names(flushed, name.substr(2))) << "its bytes";
  ASSERT_FALSE(flushed.empty());
  EXPECT_TRUE(flushed.back().ends_with("/" + name.substr(0, 2))) << "its name, last: " << flushed.back();
}

TEST_F(DiskTest, RecordsAreOnTheMediumWhenTheyAreAnswered) {
  disk_.persist(batch(1));
  wait_for(1);
  (void)flush_log().take();
  disk_.persist(batch(2));
  wait_for(2);
  EXPECT_TRUE(names(flush_log().take(), "records-wal"));
}

job::EffectEntry printed(std::uint64_t sequence, const std::string& bytes) {
  job::Effect effect;
  effect.set_thread(job::kMainThread.value());
  effect.set_epoch(1);
  effect.set_sequence(sequence);
  effect.mutable_output()->set_stream(1);
  effect.mutable_output()->set_bytes(bytes);
  return job::entry_of(effect);
}

TEST_F(DiskTest, EntriesAreOnTheMediumBeforeTheRecordsThatNameThem) {
  const job::JobId job{hash_of("a job")};
  (void)flush_log().take();
  disk_.persist({1, {{"key", "value"}}, {{job, printed(1, "first")}, {job, printed(2, "second")}}});
  wait_for(1);
  const std::vector<std::string> flushed = flush_log().take();
  const auto at = [&](const std::string& part) {
    return std::ranges::find_if(flushed, [&](const std::string& path) { return path.ends_with(part); }) - flushed.begin();
  };
  EXPECT_LT(at("/000.seg"), at("records-wal"));
  EXPECT_LT(at("records-wal"), std::ssize(flushed));
  disk_.persist({2, {}, {{job, printed(3, "third")}}});
  wait_for(2);
  EXPECT_EQ(SegmentStore::open(disk_.output_folder()).value().headers(job, disk_.output_end(job)).value().size(), 3u);
}

TEST_F(DiskTest, ManyAreFlushedTogether) {
  constexpr std::size_t kMany = 1000;
  (void)flush_log().take();
  for (job::Ticket ticket = 1; ticket <= kMany; ++ticket) disk_.persist(batch(ticket));
  wait_for(kMany);
  EXPECT_LT(flush_log().take().size(), kMany / 4);
}

TEST_F(DiskTest, ABlobIsDroppedOnlyAfterTheRecordsBeforeIt) {
  store("blob");
  wait_for(1);
  disk_.persist(batch(1));
  disk_.drop(hash_of("blob"));
  bool there = false;
  disk_.with_blobs([&](BlobStore& blobs) { there = blobs.has(hash_of("blob")); });
  wait_for(2);
  EXPECT_FALSE(has(hash_of("blob")));
  EXPECT_TRUE(there);  // the node thread had not heard of the commit when this was asked
}

TEST_F(DiskTest, ABlobThatIsWantedAgainStays) {
  store("again");
  disk_.persist(batch(1));
  disk_.drop(hash_of("again"));
  store("again");
  wait_for(3);
  EXPECT_TRUE(has(hash_of("again")));
}

TEST_F(DiskTest, ADiskThatCannotBeWrittenSaysSoOnceAndNothingElse) {
  std::filesystem::remove_all(folder_.path() / "blobs");
  store("a");
  store("b");
  until([&] { return failure_.has_value(); });
  disk_.load(hash_of("a"));
  std::optional<bool> passed;
  disk_.with_blobs([&](BlobStore&) { disk_.answer([&] { passed = true; }); });
  until([&] { return passed.has_value(); });
  EXPECT_TRUE(answers_.empty());
}

}  // namespace
}  // namespace gw::node
