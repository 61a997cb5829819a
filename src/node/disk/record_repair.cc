#include "node/disk/record_repair.h"

#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <memory>

#include "job/records.h"
#include "node/disk/record_store.h"
#include "node/disk/segment_store.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;
using job::RecordKey;
using job::RecordKind;

constexpr std::int64_t kFarthest = 1ll << 24;  // row numbers that are skipped at most in search of the next row that can be read

struct CloseDamaged {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeDamaged {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using DamagedDatabase = std::unique_ptr<sqlite3, CloseDamaged>;
using DamagedQuery = std::unique_ptr<sqlite3_stmt, FinalizeDamaged>;

DamagedQuery query(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  (void)sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);  // nullptr if even the description of the tables is gone
  return DamagedQuery(statement);
}

std::string bytes_at(sqlite3_stmt* row, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
}

// All rows that can be read and whose checksum is right. Scans by row number, which needs no index; behind an unreadable page it searches
// with growing steps.
RecordStore::Records readable_rows(sqlite3* database) {
  RecordStore::Records records;
  std::int64_t last = 0;
  for (std::int64_t step = 1; step < kFarthest; step *= 2) {
    const DamagedQuery rows = query(database, "SELECT rowid, key, value, sum FROM records WHERE rowid > ?1 ORDER BY rowid");
    if (rows == nullptr) return records;
    sqlite3_bind_int64(rows.get(), 1, last);
    int code = sqlite3_step(rows.get());
    for (; code == SQLITE_ROW; code = sqlite3_step(rows.get())) {
      const std::int64_t row = sqlite3_column_int64(rows.get(), 0);
      if (row <= last) break;  // a damaged page may lead in a circle
      last = row;
      step = 1;
      std::string key = bytes_at(rows.get(), 1), value = bytes_at(rows.get(), 2);
      if (RecordStore::sum_of(key, value) == sqlite3_column_int64(rows.get(), 3)) records[std::move(key)] = std::move(value);
    }
    if (code == SQLITE_DONE) return records;
    last += step;
  }
  return records;
}

// A boot number higher than all before: seconds since 1970 if the count is lost or cannot be right.
std::uint64_t boot_of(sqlite3* database, std::chrono::nanoseconds since_1970) {
  const DamagedQuery row = query(database, "SELECT boot FROM life");
  const std::int64_t boot = row != nullptr && sqlite3_step(row.get()) == SQLITE_ROW ? sqlite3_column_int64(row.get(), 0) : 0;
  const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(since_1970).count();
  return static_cast<std::uint64_t>(boot > 0 && boot < now ? boot : now);
}

// Records that do not depend on others: grids, known peers, and what is kept for other homes, which may have no other copy.
bool stays(RecordKind kind) {
  return kind == RecordKind::grid || kind == RecordKind::balance || kind == RecordKind::consumer_balance || kind == RecordKind::peers ||
         kind == RecordKind::kept || kind == RecordKind::determinants;
}

Status set_aside(const fs::path& file) {
  std::error_code failure;
  for (const char* part : {"", "-wal"}) {
    const fs::path from = file.string() + part, to = file.string() + ".damaged" + part;
    fs::remove(to, failure);
    if (fs::exists(from, failure)) fs::rename(from, to, failure);
    if (failure) return fail(Kind::internal, "cannot move {} away: {}", from.string(), failure.message());
  }
  fs::remove(file.string() + "-shm", failure);
  return ok();
}

}  // namespace

wire::pb::JobRecord without_records(wire::pb::JobRecord record, std::chrono::nanoseconds since_1970) {
  record.clear_charter();
  record.clear_manifest();
  if (record.name().empty()) record.set_name("unknown");
  record.set_state(wire::pb::JobRecord::DONE);
  record.set_ended_at_ns(static_cast<std::uint64_t>(since_1970.count()));
  record.set_failed(std::max<std::uint64_t>(1, record.failed()));
  record.set_exit_code(1);
  record.set_sentence("the job could not go on after a restart of its home: the records of the daemon were damaged or gone");
  return record;
}

namespace {

bool has_grid(const RecordStore::Records& records) {
  return std::ranges::any_of(records, [](const auto& record) {
    const auto key = RecordKey::decode(record.first);
    return key && key->kind == RecordKind::grid && key->job != RecordKey::lost_grids().job;
  });
}

}  // namespace

Result<std::string> repair_records(const fs::path& file, const fs::path& jobs_folder, std::chrono::nanoseconds since_1970) {
  GW_TRY_VOID(set_aside(file));
  sqlite3* opened = nullptr;
  (void)sqlite3_open_v2((file.string() + ".damaged").c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  const DamagedDatabase damaged(opened);
  const RecordStore::Records records = readable_rows(damaged.get());
  RecordStore::Batch batch;
  std::map<job::JobId, wire::pb::JobRecord> jobs;
  for (const auto& [bytes, value] : records) {
    const auto key = RecordKey::decode(bytes);
    if (!key) continue;
    if (key->kind == RecordKind::job && !jobs[key->job].ParseFromString(value)) jobs.erase(key->job);
    if (stays(key->kind)) batch.records.push_back({bytes, value});
  }
  if (!has_grid(records)) batch.records.push_back({RecordKey::lost_grids().encode(), std::string()});
  GW_TRY(const SegmentStore segments, SegmentStore::open(jobs_folder));
  std::size_t unfinished = 0;
  for (const job::JobId& id : segments.jobs()) jobs.try_emplace(id);
  for (const auto& [id, record] : jobs) {
    const std::string end = RecordKey{.kind = RecordKind::output, .job = id}.encode();
    const bool runs = record.state() == wire::pb::JobRecord::RUNNING;
    unfinished += runs ? 1 : 0;
    batch.records.push_back({RecordKey{.kind = RecordKind::job, .job = id}.encode(),
                             (runs ? without_records(record, since_1970) : record).SerializeAsString()});
    const auto recorded = records.find(end);
    batch.records.push_back({end, !runs && recorded != records.end() ? recorded->second : segment::encode(segments.readable_end(id))});
  }
  GW_TRY(RecordStore repaired, RecordStore::open(file));
  GW_TRY_VOID(repaired.commit({&batch, 1}));
  GW_TRY_VOID(repaired.set_boot(boot_of(damaged.get(), since_1970)));
  return fmt::format("{} records could be read; {} of {} jobs of this home had not ended and end here; the damaged file is {}.damaged",
                     records.size(), unfinished, jobs.size(), file.string());
}

}  // namespace gw::node
