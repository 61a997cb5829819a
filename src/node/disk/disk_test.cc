#include "node/disk/disk.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <cerrno>

#include "job/records.h"
#include "os/files/file.h"
#include "os/files/unique_fd.h"
#include "wire/records.pb.h"

namespace {

// The files flushed by this process, in order: a test cannot cut the power, but it can see what would survive.
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

// Whether flushes fail from now on.
std::atomic<bool>& no_room() {
  static std::atomic<bool> none = false;
  return none;
}

int refuse_flush() {
  errno = ENOSPC;
  return -1;
}

}  // namespace

// Replaces the C library's function, for this program and for SQLite.
extern "C" int fdatasync(int fd) {
  if (no_room()) return refuse_flush();
  flush_log().add(fd);
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}
extern "C" int fsync(int fd) {
  if (no_room()) return refuse_flush();
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
              SegmentStore::open(folder_.path() / "jobs").value(), SpareRoom(folder_.path() / "spare")},
             *this};
};

TEST_F(DiskTest, AForgottenJobLeavesNothingEvenIfItWasWrittenToJustBefore) {
  const job::JobId job{hash_of("a job")};
  const job::EffectEntry entry = job::details_entry("the end");
  disk_.persist({1, {}, {{job, entry}}});
  disk_.drop_output(job);
  bool done = false;
  disk_.after_records([&] { done = true; });
  until([&] { return done; });
  EXPECT_EQ(answers_.size(), 1u);
  EXPECT_EQ(disk_.output_end(job), segment::Position());
  EXPECT_FALSE(std::filesystem::exists(segment::folder_of(disk_.output_folder(), job)));
  auto records = RecordStore::open(folder_.path() / "records").value();
  EXPECT_TRUE(records.load().value().records.empty());
}

TEST_F(DiskTest, AFullDiskCompletesItsOperationsInOrderWhenThereIsRoom) {
  const job::JobId job{hash_of("a job")};
  const auto count = [&](auto matches) { return std::ranges::count_if(answers_, matches); };
  const auto is_full = [](const peer::DiskDone& done) {
    return std::holds_alternative<peer::DiskRoom>(done) && std::get<peer::DiskRoom>(done).full;
  };
  const auto is_persisted = [](const peer::DiskDone& done) { return std::holds_alternative<peer::Persisted>(done); };
  const auto is_stored = [](const peer::DiskDone& done) {
    return std::holds_alternative<peer::BlobStored>(done) && std::get<peer::BlobStored>(done).hash == hash_of("kept in mind");
  };
  no_room() = true;
  disk_.persist({1, {{"key", "1"}}, {{job, job::details_entry("some bytes")}}});
  until([&] { return count(is_full) == 1; });
  EXPECT_TRUE(disk_.room().full);
  store("kept in mind");
  store("not wanted any more");
  disk_.drop(hash_of("not wanted any more"));
  disk_.persist(batch(2));
  bool looked = false;
  disk_.with_blobs([&](BlobStore&) { disk_.answer([&] { looked = true; }); });
  until([&] { return looked; });
  EXPECT_EQ(answers_.size(), 1u) << "nothing is answered that is not on the medium";
  no_room() = false;
  disk_.persist(batch(3));
  until([&] { return count(is_persisted) == 3 && count(is_stored) == 1; });
  EXPECT_FALSE(failure_);
  EXPECT_TRUE(has(hash_of("kept in mind")));
  EXPECT_EQ(SegmentStore::open(disk_.output_folder()).value().headers(job, disk_.output_end(job)).value().size(), 1u);
  until([&] { return !disk_.room().full; });
}

// An earlier version did not answer, and a blob that was dropped and fetched again on a full disk was never taken for stored.
TEST_F(DiskTest, AStoreThatIsGivenUpIsAnswered) {
  no_room() = true;
  store("not wanted any more");
  disk_.drop(hash_of("not wanted any more"));
  const auto is_stored = [](const peer::DiskDone& done) { return std::holds_alternative<peer::BlobStored>(done); };
  until([&] { return std::ranges::count_if(answers_, is_stored) == 1; });
  EXPECT_FALSE(has(hash_of("not wanted any more")));
}

// Finding N19: everything that changed while the disk was full waited, and was tried again as a whole with each change.
TEST_F(DiskTest, AFullDiskLetsOnlyTheLastValueOfEachKeyWait) {
  constexpr job::Ticket kBatches = 20'000;
  no_room() = true;
  disk_.persist({1, {}, {{job::JobId{hash_of("a job")}, job::details_entry("some bytes")}}});
  for (job::Ticket ticket = 2; ticket <= kBatches; ++ticket)
    disk_.persist({ticket, {{"key", std::to_string(ticket)}, {"other", std::to_string(ticket % 2)}}, {}});
  until([&] { return disk_.room().full; });
  no_room() = false;
  disk_.persist(batch(kBatches + 1));
  until([&] {
    return !answers_.empty() && std::holds_alternative<peer::Persisted>(answers_.back()) &&
           std::get<peer::Persisted>(answers_.back()).ticket == kBatches + 1;
  });
  EXPECT_FALSE(failure_);
  const auto records = RecordStore::open(folder_.path() / "records").value().load().value().records;
  EXPECT_EQ(records.at("key"), std::to_string(kBatches + 1));
  EXPECT_EQ(records.at("other"), "0");
}

TEST_F(DiskTest, AJobOfWhichOnlyTheOutputIsLeftIsOver) {
  const job::JobId job{hash_of("a job")};
  const std::string key = job::RecordKey{.kind = job::RecordKind::job, .job = job}.encode();
  disk_.persist({1, {{key, std::nullopt}}, {{job, job::details_entry("some bytes")}}});
  wait_for(1);
  const peer::Stored stored = disk_.stored().value();
  wire::pb::JobRecord record;
  ASSERT_TRUE(stored.records.contains(key));
  ASSERT_TRUE(record.ParseFromString(stored.records.at(key)));
  EXPECT_EQ(record.state(), wire::pb::JobRecord::DONE);
  EXPECT_FALSE(record.sentence().empty());
  EXPECT_GT(disk_.output_end(job), segment::Position());
}

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
  effect.mutable_output()->set_descriptor(1);
  effect.mutable_output()->set_bytes(bytes);
  wire::set_stream(effect);
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

TEST_F(DiskTest, WaitsForDescriptorsWithoutTakingTheDiskForDamaged) {
  store("stored before");
  wait_for(1);
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  os::UniqueFd lowest(::dup(0));
  const rlimit none{static_cast<rlim_t>(lowest.get()), usual.rlim_max};
  lowest.reset();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  store("stored later");
  disk_.load(hash_of("stored before"));
  bool looked = false;
  disk_.with_blobs([&](BlobStore&) { disk_.answer([&] { looked = true; }); });
  until([&] { return looked; });
  EXPECT_EQ(answers_.size(), 1u) << "nothing is said to be stored or lost";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  disk_.with_blobs([](BlobStore&) {});
  wait_for(3);
  EXPECT_FALSE(failure_);
  EXPECT_TRUE(has(hash_of("stored later")));
  const auto loaded = std::ranges::find_if(answers_, [](const auto& done) { return std::holds_alternative<peer::BlobLoaded>(done); });
  ASSERT_NE(loaded, answers_.end());
  EXPECT_EQ(std::get<peer::BlobLoaded>(*loaded).bytes, "stored before");
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
