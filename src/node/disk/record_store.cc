#include "node/disk/record_store.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "node/disk/wal_check.h"

namespace gw::node {
namespace {

constexpr int kApplication = 0x47445754;  // "GDWT"
constexpr std::uint32_t kFormat = kFormatWithLog;
constexpr std::uint64_t kMaxBoot = (1ull << 31) - 1;  // peer::Peer::Identity
constexpr int kMaxLogBytes = 64 << 20;                // between checkpoints; in a store that is closed the log is empty
constexpr int kBusyMilliseconds = 5000;               // for a user who reads the database with a tool

Sqlite::Explain told_about(const std::filesystem::path& file) {
  return [file = file.string()](int code, std::string_view doing, const char* why, int system_error) -> Error {
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
      return fail(Kind::corrupt, "the records in {} are damaged ({}): put back a copy, or move the file away to begin with none", file,
                  why);
    if (code == SQLITE_FULL || (code == SQLITE_IOERR && (system_error == ENOSPC || system_error == EDQUOT)))
      return fail(Kind::overloaded, "no room is left on the disk to {} {}: free some", doing, file);
    const bool refused = code == SQLITE_CANTOPEN || code == SQLITE_PERM || code == SQLITE_READONLY;
    return fail(refused ? Kind::invalid : Kind::internal, "cannot {} {}: {}", doing, file, why);
  };
}

}  // namespace

std::int64_t RecordStore::sum_of(std::string_view key, std::string_view value) {
  Sha256 hash;
  const std::uint64_t length = key.size();
  hash.update({reinterpret_cast<const std::uint8_t*>(&length), sizeof length});
  hash.update(as_bytes(key));
  hash.update(as_bytes(value));
  const Hash256 digest = hash.finish();
  std::int64_t sum = 0;
  std::memcpy(&sum, digest.bytes.data(), sizeof sum);
  return sum;
}

// --- opening

Result<RecordStore> RecordStore::open(const std::filesystem::path& file) {
  GW_TRY_VOID(check_wal(file));
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  RecordStore store(file, Sqlite(opened, told_about(file)));
  if (code != SQLITE_OK) return store.database_.explain(code, "open");
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  int stays = 1;
  (void)sqlite3_file_control(opened, "main", SQLITE_FCNTL_PERSIST_WAL, &stays);  // see check_wal()
  GW_TRY_VOID(store.prepare_schema());
  store.opened_ = true;
  return store;
}

// Called before the first commit, not by open(): a store on a full disk can be opened. The main file must have lost the mark before
// anything is committed, else a log that is deleted later would not be missed.
Status RecordStore::clear_closed_mark() {
  if (!marked_) return ok();
  GW_TRY_VOID(database_.run(fmt::format("PRAGMA user_version={}; PRAGMA wal_checkpoint(PASSIVE)", kFormat)));
  marked_ = false;
  return ok();
}

// The mark comes last: the main file must not have it while something is only in the log. A reader from outside, or a full disk, may
// prevent it; the next start then relies on the log.
RecordStore::~RecordStore() {
  if (!opened_ || marked_ || database_.handle() == nullptr) return;
  sqlite3_busy_timeout(database_.handle(), 0);
  const auto busy = database_.number("PRAGMA wal_checkpoint(TRUNCATE)");
  if (!busy || *busy != 0) return;
  (void)database_.run(fmt::format("PRAGMA user_version={}; PRAGMA wal_checkpoint(TRUNCATE)", kFormat | kClosedMark));
}

Status RecordStore::prepare_schema() {
  GW_TRY_VOID(database_.run(fmt::format("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit={}", kMaxLogBytes)));
  GW_TRY(const std::int64_t application, database_.number("PRAGMA application_id"));
  GW_TRY(const std::int64_t version, database_.number("PRAGMA user_version"));
  if (application == kApplication) {
    const std::int64_t format = version & ~std::int64_t{kClosedMark};
    marked_ = version != format;
    if (format > kFormat)
      return fail(Kind::unsupported, "{} is of format {}, and this godwit knows {}: use the newer one", file_.string(), format, kFormat);
    GW_TRY(Sqlite::Statement check, database_.prepare("PRAGMA quick_check(1)"));
    const int code = sqlite3_step(check.get());
    if (code != SQLITE_ROW) return database_.explain(code, "check");
    const std::string found = column_bytes(check.get(), 0);
    if (found != "ok")
      return fail(Kind::corrupt, "the records in {} are damaged ({}): put back a copy, or move the file away to begin with none",
                  file_.string(), found);
    const auto boot = database_.number("SELECT boot FROM life");
    if (!boot || *boot < 0 || static_cast<std::uint64_t>(*boot) >= kMaxBoot)
      return fail(Kind::corrupt, "the count of starts in {} is lost, or cannot be right", file_.string());
    return format == kFormat ? ok() : database_.run(fmt::format("PRAGMA user_version={}", kFormat));
  }
  GW_TRY(const std::int64_t tables, database_.number("SELECT count(*) FROM sqlite_master"));
  if (application != 0 || tables != 0)
    return fail(Kind::invalid, "{} is a database of another program: choose another place for the state", file_.string());
  // The main file has the format from the beginning: else a log that is deleted early would not be missed.
  return database_.run(
      fmt::format("BEGIN IMMEDIATE;"
                  "CREATE TABLE records(key BLOB PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL);"
                  "CREATE TABLE life(boot INTEGER NOT NULL);"
                  "INSERT INTO life VALUES(0);"
                  "PRAGMA application_id={};"
                  "PRAGMA user_version={};"
                  "COMMIT;"
                  "PRAGMA wal_checkpoint(PASSIVE)",
                  kApplication, kFormat));
}

Result<std::uint64_t> RecordStore::raise_boot() {
  GW_TRY_VOID(clear_closed_mark());
  GW_TRY_VOID(database_.run("PRAGMA synchronous=FULL; UPDATE life SET boot = boot + 1"));
  GW_TRY(const std::int64_t boot, database_.number("SELECT boot FROM life"));
  return static_cast<std::uint64_t>(boot);
}

Status RecordStore::set_boot(std::uint64_t boot) {
  GW_TRY_VOID(clear_closed_mark());
  return database_.run(fmt::format("UPDATE life SET boot = max(boot, {})", boot));
}

// --- reading

Result<std::string> RecordStore::checked_value(const std::string& key, sqlite3_stmt* row, int column) const {
  std::string value = column_bytes(row, column);
  if (sqlite3_column_int64(row, column + 1) != sum_of(key, value))
    return fail(Kind::corrupt, "a record in {} is not what was written: put back a copy, or move the file away to begin with none",
                file_.string());
  return value;
}

Result<RecordStore::Loaded> RecordStore::load() {
  GW_TRY(Sqlite::Statement rows, database_.prepare("SELECT key, value, sum FROM records"));
  Loaded loaded;
  for (;;) {
    GW_TRY(const bool more, database_.next(rows.get()));
    if (!more) return loaded;
    std::string key = column_bytes(rows.get(), 0);
    if (auto value = checked_value(key, rows.get(), 1)) {
      loaded.records.emplace(std::move(key), *std::move(value));
    } else {
      loaded.damaged.push_back(std::move(key));
    }
  }
}

Result<std::string> RecordStore::read(const std::string& key) {
  GW_TRY(Sqlite::Statement row, database_.prepare("SELECT value, sum FROM records WHERE key = ?1"));
  bind_bytes(row.get(), 1, key);
  GW_TRY(const bool found, database_.next(row.get()));
  if (!found) return fail(Kind::not_found, "there is no such record");
  return checked_value(key, row.get(), 0);
}

// --- writing

Status RecordStore::commit(std::span<const Batch> batches) {
  GW_TRY_VOID(clear_closed_mark());
  GW_TRY_VOID(database_.run("BEGIN IMMEDIATE"));
  Status written = ok();
  for (const Batch& batch : batches) {
    if (written) written = write(batch.records);
    if (written && !batch.dropped_prefix.empty()) written = drop(batch.dropped_prefix);
  }
  if (written) written = database_.run("COMMIT");
  if (!written) (void)database_.run("ROLLBACK");  // report the first error only
  return written;
}

Status RecordStore::write(const std::vector<job::Record>& records) {
  if (records.empty()) return ok();
  GW_TRY(Sqlite::Statement put, database_.prepare("INSERT OR REPLACE INTO records VALUES(?1, ?2, ?3)"));
  GW_TRY(Sqlite::Statement remove, database_.prepare("DELETE FROM records WHERE key = ?1"));
  for (const job::Record& record : records) {
    sqlite3_stmt* statement = record.value ? put.get() : remove.get();
    bind_bytes(statement, 1, record.key);
    if (record.value) {
      bind_bytes(statement, 2, *record.value);
      sqlite3_bind_int64(statement, 3, sum_of(record.key, *record.value));
    }
    GW_TRY_VOID(database_.step(statement));
  }
  return ok();
}

// The end of the range is the first key after all keys with the prefix; a prefix of only 0xff bytes has none.
Status RecordStore::drop(const std::string& prefix) {
  std::string end = prefix;
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(end.back() + 1);
  GW_TRY(Sqlite::Statement remove,
         database_.prepare(end.empty() ? "DELETE FROM records WHERE key >= ?1" : "DELETE FROM records WHERE key >= ?1 AND key < ?2"));
  bind_bytes(remove.get(), 1, prefix);
  if (!end.empty()) bind_bytes(remove.get(), 2, end);
  return database_.step(remove.get());
}

}  // namespace gw::node
