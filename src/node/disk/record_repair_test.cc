#include "node/disk/record_repair.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>

#include "base/rng.h"
#include "job/records.h"
#include "node/disk/record_store.h"
#include "node/disk/segment_store.h"
#include "node/disk/wal_check.h"
#include "os/files/file.h"
#include "wire/records.pb.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::nanoseconds kNow = std::chrono::seconds(1'700'000'000);

job::JobId numbered_job(std::uint32_t number) { return {sha256(as_bytes(std::to_string(number)))}; }

std::string job_key(std::uint32_t number) { return job::RecordKey{.kind = job::RecordKind::job, .job = numbered_job(number)}.encode(); }

std::string job_record(std::uint32_t number) {
  wire::pb::JobRecord record;
  record.set_name("job " + std::to_string(number));
  record.set_state(number % 2 == 0 ? wire::pb::JobRecord::DONE : wire::pb::JobRecord::RUNNING);
  record.set_charter(std::string(200, 'c'));
  return record.SerializeAsString();
}

// A store of a daemon that was killed.
class RecordRepairTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kJobs = 120;

  RecordRepairTest() {
    RecordStore store = RecordStore::open(folder_.path() / "live").value();
    for (std::uint64_t boot = 0; boot < 3; ++boot) EXPECT_TRUE(store.raise_boot());
    for (std::uint32_t number = 0; number < kJobs; ++number) {
      const RecordStore::Batch batch{.records = {{job_key(number), job_record(number)}}};
      EXPECT_TRUE(store.commit({&batch, 1}));
    }
    for (const char* part : {"", "-wal"}) fs::copy_file((folder_.path() / "live").string() + part, killed_.string() + part);
    restore();
    fs::create_directory(jobs_);
  }

  // Restores the files as the daemon left them.
  void restore() {
    for (const char* part : {"", "-wal"})
      fs::copy_file(killed_.string() + part, file_.string() + part, fs::copy_options::overwrite_existing);
    fs::remove(file_.string() + "-shm");
  }

  // An owner lists the tables of the store with the tool of SQLite, which closes it as its last user.
  void list_tables() {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, "SELECT name FROM sqlite_master", nullptr, nullptr, nullptr), SQLITE_OK);
    ASSERT_EQ(sqlite3_close(database), SQLITE_OK);
  }
  std::size_t readable_jobs() { return RecordStore::open(file_).value().load().value().records.size(); }

  void damage(const std::string& part, std::size_t bytes) {
    std::fstream file(file_.string() + part, std::ios::in | std::ios::out | std::ios::binary);
    const std::size_t size = fs::file_size(file_.string() + part);
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto at = static_cast<std::streamoff>(rng_.below(size));
      file.seekg(at);
      const char byte = static_cast<char>(file.get() ^ 0x55);
      file.seekp(at);
      file.put(byte);
    }
  }

  Rng rng_{1};
  os::TempDir folder_ = os::TempDir::make().value();
  const fs::path file_ = folder_.path() / "records.db", killed_ = folder_.path() / "killed", jobs_ = folder_.path() / "jobs";
};

TEST_F(RecordRepairTest, ALogThatACrashCutIsFine) {
  const fs::path wal = file_.string() + "-wal";
  EXPECT_TRUE(check_wal(file_));
  fs::resize_file(wal, fs::file_size(wal) - 1000);
  EXPECT_TRUE(check_wal(file_));
  EXPECT_TRUE(RecordStore::open(file_));
  EXPECT_TRUE(check_wal(file_)) << "a store that was closed";
  restore();
  EXPECT_TRUE(check_wal(file_));
  ASSERT_TRUE(RecordStore::open(file_)->raise_boot()) << "killed before the main file had anything";
  EXPECT_TRUE(check_wal(folder_.path() / "not there"));
}

TEST_F(RecordRepairTest, AStoreOrLogWithoutTheOtherIsDamaged) {
  std::ofstream(file_.string() + "-shm") << "as a killed daemon leaves it";
  fs::remove(file_.string() + "-wal");
  EXPECT_EQ(RecordStore::open(file_).error().kind, Kind::corrupt);
  restore();
  fs::remove(file_);
  EXPECT_EQ(RecordStore::open(file_).error().kind, Kind::corrupt);
}

TEST_F(RecordRepairTest, AStoreThatWasClosedNeedsNoLog) {
  ASSERT_EQ(readable_jobs(), kJobs);
  ASSERT_TRUE(fs::exists(file_.string() + "-shm"));
  fs::remove(file_.string() + "-wal");
  EXPECT_EQ(readable_jobs(), kJobs);
}

TEST_F(RecordRepairTest, AStoreThatWasOpenedAgainNeedsItsLog) {
  ASSERT_EQ(readable_jobs(), kJobs) << "closed";
  {
    RecordStore store = RecordStore::open(file_).value();
    ASSERT_TRUE(store.raise_boot());
    for (const char* part : {"", "-shm"}) fs::copy_file(file_.string() + part, (folder_.path() / "copy").string() + part);
  }
  EXPECT_EQ(RecordStore::open(folder_.path() / "copy").error().kind, Kind::corrupt);
}

// A start that takes the missing log for damage would end all running jobs.
TEST_F(RecordRepairTest, AnOwnerMayLookIntoTheStoreOfAStoppedOrKilledDaemon) {
  list_tables();
  ASSERT_FALSE(fs::exists(file_.string() + "-wal")) << "of a killed daemon";
  EXPECT_EQ(readable_jobs(), kJobs);
  list_tables();
  ASSERT_FALSE(fs::exists(file_.string() + "-wal")) << "of a stopped daemon";
  EXPECT_EQ(readable_jobs(), kJobs);
}

TEST_F(RecordRepairTest, ALogMayHaveAnyLength) {
  const fs::path wal = file_.string() + "-wal";
  fs::resize_file(wal, 257u << 20);  // what SQLite has reserved, or left of an earlier round
  const Status checked = check_wal(file_);
  EXPECT_TRUE(checked) << checked.error().detail;
}

TEST_F(RecordRepairTest, DamageInTheMiddleOfTheLogIsFound) {
  damage("-wal", 20);
  EXPECT_EQ(check_wal(file_).error().kind, Kind::corrupt);
  EXPECT_EQ(RecordStore::open(file_).error().kind, Kind::corrupt);
}

TEST_F(RecordRepairTest, JobsThatRanEndAndOthersStay) {
  damage("-wal", 3);
  ASSERT_FALSE(RecordStore::open(file_));
  const auto repaired = repair_records(file_, jobs_, kNow);
  ASSERT_TRUE(repaired) << repaired.error().detail;
  RecordStore store = RecordStore::open(file_).value();
  EXPECT_GT(store.raise_boot().value(), 3u);
  const auto loaded = store.load().value();
  EXPECT_TRUE(loaded.damaged.empty());
  std::size_t jobs = 0;
  for (std::uint32_t number = 0; number < kJobs; ++number) {
    const auto found = loaded.records.find(job_key(number));
    if (found == loaded.records.end()) continue;
    ++jobs;
    wire::pb::JobRecord record;
    ASSERT_TRUE(record.ParseFromString(found->second));
    EXPECT_EQ(record.name(), "job " + std::to_string(number));
    EXPECT_EQ(record.state(), wire::pb::JobRecord::DONE);
    EXPECT_EQ(record.sentence().empty(), number % 2 == 0);
  }
  EXPECT_GT(jobs, 0u) << *repaired;
}

TEST_F(RecordRepairTest, ImagesKeptForOthersStay) {
  const job::JobId id = numbered_job(kJobs + 1);
  const std::string kept = job::RecordKey{.kind = job::RecordKind::kept, .job = id, .thread = job::ThreadId{1}}.encode();
  const std::string thread = job::RecordKey{.kind = job::RecordKind::thread, .job = id, .thread = job::ThreadId{1}}.encode();
  {
    RecordStore store = RecordStore::open(file_).value();
    const RecordStore::Batch batch{.records = {{kept, "an image"}, {thread, "a thread of a job that ends"}}};
    ASSERT_TRUE(store.commit({&batch, 1}));
  }
  ASSERT_TRUE(repair_records(file_, jobs_, kNow));
  RecordStore store = RecordStore::open(file_).value();
  EXPECT_EQ(store.read(kept).value(), "an image");
  EXPECT_FALSE(store.read(thread));
}

TEST_F(RecordRepairTest, SaysThatGridsMayBeLostUnlessOneIsLeft) {
  const std::string lost = job::RecordKey::lost_grids().encode();
  ASSERT_TRUE(repair_records(file_, jobs_, kNow));
  EXPECT_TRUE(RecordStore::open(file_).value().load().value().records.contains(lost));
  ASSERT_TRUE(repair_records(file_, jobs_, kNow));
  EXPECT_TRUE(RecordStore::open(file_).value().load().value().records.contains(lost)) << "repaired twice";
  restore();
  {
    RecordStore store = RecordStore::open(file_).value();
    const RecordStore::Batch batch{.records = {{job::RecordKey{.kind = job::RecordKind::grid, .job = numbered_job(1)}.encode(), "a grid"}}};
    ASSERT_TRUE(store.commit({&batch, 1}));
  }
  ASSERT_TRUE(repair_records(file_, jobs_, kNow));
  EXPECT_FALSE(RecordStore::open(file_).value().load().value().records.contains(lost));
}

TEST_F(RecordRepairTest, ACountOfStartsThatCannotBeIsDamage) {
  {
    RecordStore store = RecordStore::open(file_).value();
    ASSERT_TRUE(store.set_boot(1ull << 40));
  }
  ASSERT_EQ(RecordStore::open(file_).error().kind, Kind::corrupt);
  ASSERT_TRUE(repair_records(file_, jobs_, kNow));
  EXPECT_EQ(RecordStore::open(file_).value().raise_boot().value(), 1'700'000'001u);
}

TEST_F(RecordRepairTest, AnyDamageLeavesAStoreThatWorks) {
  for (int round = 0; round < 20; ++round) {
    restore();
    damage(round % 2 == 0 ? "" : "-wal", 3 + rng_.below(300));
    auto store = RecordStore::open(file_);
    if (!store && store.error().kind == Kind::corrupt) {
      ASSERT_TRUE(repair_records(file_, jobs_, kNow));
      store = RecordStore::open(file_);
    }
    if (!store && store.error().kind != Kind::corrupt) continue;  // the few bytes that say what kind of file it is
    ASSERT_TRUE(store) << store.error().detail;
    EXPECT_TRUE(store->raise_boot());
    EXPECT_TRUE(store->load());
  }
}

TEST_F(RecordRepairTest, AJobOfWhichOnlyTheOutputIsLeftEndsWithIt) {
  const job::JobId id = numbered_job(kJobs + 1);
  SegmentStore segments = SegmentStore::open(jobs_).value();
  const auto end = segments.append(id, {}, job::details_entry("what it printed")).value();
  ASSERT_TRUE(segments.flush());
  std::ofstream(file_) << "nothing of a database is left";
  fs::remove(file_.string() + "-wal");
  ASSERT_TRUE(repair_records(file_, jobs_, kNow));
  RecordStore store = RecordStore::open(file_).value();
  EXPECT_GT(store.raise_boot().value(), 1'600'000'000u) << "higher than any before";
  wire::pb::JobRecord record;
  ASSERT_TRUE(record.ParseFromString(store.read(job::RecordKey{.kind = job::RecordKind::job, .job = id}.encode()).value()));
  EXPECT_EQ(record.state(), wire::pb::JobRecord::DONE);
  EXPECT_NE(record.sentence().find("damaged"), std::string::npos);
  const std::string recorded = store.read(job::RecordKey{.kind = job::RecordKind::output, .job = id}.encode()).value();
  EXPECT_EQ(segment::decode_position(recorded).value(), end);
}

}  // namespace
}  // namespace gw::node
