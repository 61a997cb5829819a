#include "node/disk/record_store.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>

namespace gw::node {
namespace {

constexpr int kApplication = 0x47445754;  // "GDWT"
constexpr int kFormat = 1;
constexpr std::uint64_t kMaxBoot = (1ull << 31) - 1;  // peer::Peer::Identity
constexpr int kBusyMilliseconds = 5000;               // somebody looks into the database with a tool

std::int64_t sum_of(std::string_view key, std::string_view value) {
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

std::string text_at(sqlite3_stmt* row, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
}

void bind_blob(sqlite3_stmt* statement, int index, const std::string& bytes) {
  sqlite3_bind_blob64(statement, index, bytes.data(), bytes.size(), SQLITE_STATIC);
}

}  // namespace

void RecordStore::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void RecordStore::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Error RecordStore::explain(int code, std::string_view doing) const {
  const char* why = sqlite3_errmsg(database_.get());
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fail(Kind::corrupt, "the records in {} are damaged ({}): put back a copy, or move the file away to begin with none",
                  file_.string(), why);
    case SQLITE_FULL:
      return fail(Kind::overloaded, "no room is left to {} {}: free some and start again", doing, file_.string());
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return fail(Kind::invalid, "cannot {} {}: {}", doing, file_.string(), why);
    default:
      return fail(Kind::internal, "cannot {} {}: {}", doing, file_.string(), why);
  }
}

// --- opening

Result<RecordStore> RecordStore::open(const std::filesystem::path& file) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  RecordStore store(file, Database(opened));
  if (code != SQLITE_OK) return store.explain(code, "open");
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  GW_TRY_VOID(store.prepare_schema());
  return store;
}

Status RecordStore::prepare_schema() {
  GW_TRY_VOID(run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL"));
  GW_TRY(const std::int64_t application, number("PRAGMA application_id"));
  GW_TRY(const std::int64_t format, number("PRAGMA user_version"));
  if (application == kApplication) {
    if (format > kFormat)
      return fail(Kind::unsupported, "{} is of format {}, and this godwit knows {}: use the newer one", file_.string(), format, kFormat);
    GW_TRY(Statement check, prepare("PRAGMA quick_check(1)"));
    const int code = sqlite3_step(check.get());
    if (code != SQLITE_ROW) return explain(code, "check");
    const std::string found = text_at(check.get(), 0);
    if (found == "ok") return ok();
    return fail(Kind::corrupt, "the records in {} are damaged ({}): put back a copy, or move the file away to begin with none",
                file_.string(), found);
  }
  GW_TRY(const std::int64_t tables, number("SELECT count(*) FROM sqlite_master"));
  if (application != 0 || tables != 0)
    return fail(Kind::invalid, "{} is a database of another program: choose another place for the state", file_.string());
  return run(
      fmt::format("BEGIN IMMEDIATE;"
                  "CREATE TABLE records(key BLOB PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL);"
                  "CREATE TABLE life(boot INTEGER NOT NULL);"
                  "INSERT INTO life VALUES(0);"
                  "PRAGMA application_id={};"
                  "PRAGMA user_version={};"
                  "COMMIT",
                  kApplication, kFormat));
}

Result<std::uint64_t> RecordStore::raise_boot() {
  GW_TRY_VOID(run("PRAGMA synchronous=FULL; UPDATE life SET boot = boot + 1"));
  GW_TRY(const std::int64_t boot, number("SELECT boot FROM life"));
  if (boot < 1 || static_cast<std::uint64_t>(boot) > kMaxBoot)
    return fail(Kind::corrupt, "the count of starts in {} is {}, which cannot be", file_.string(), boot);
  return static_cast<std::uint64_t>(boot);
}

// --- reading

Result<std::string> RecordStore::checked_value(const std::string& key, sqlite3_stmt* row, int column) const {
  std::string value = text_at(row, column);
  if (sqlite3_column_int64(row, column + 1) != sum_of(key, value))
    return fail(Kind::corrupt, "a record in {} is not what was written: put back a copy, or move the file away to begin with none",
                file_.string());
  return value;
}

Result<RecordStore::Loaded> RecordStore::load() {
  GW_TRY(Statement rows, prepare("SELECT key, value, sum FROM records"));
  Loaded loaded;
  for (;;) {
    const int code = sqlite3_step(rows.get());
    if (code == SQLITE_DONE) return loaded;
    if (code != SQLITE_ROW) return explain(code, "read");
    std::string key = text_at(rows.get(), 0);
    if (auto value = checked_value(key, rows.get(), 1)) {
      loaded.records.emplace(std::move(key), *std::move(value));
    } else {
      loaded.damaged.push_back(std::move(key));
    }
  }
}

Result<std::string> RecordStore::read(const std::string& key) {
  GW_TRY(Statement row, prepare("SELECT value, sum FROM records WHERE key = ?1"));
  bind_blob(row.get(), 1, key);
  const int code = sqlite3_step(row.get());
  if (code == SQLITE_DONE) return fail(Kind::not_found, "there is no such record");
  if (code != SQLITE_ROW) return explain(code, "read");
  return checked_value(key, row.get(), 0);
}

// --- writing

Status RecordStore::commit(std::span<const Batch> batches) {
  GW_TRY_VOID(run("BEGIN IMMEDIATE"));
  Status written = ok();
  for (const Batch& batch : batches) {
    if (written) written = write(batch.records);
    if (written && !batch.dropped_prefix.empty()) written = drop(batch.dropped_prefix);
  }
  if (written) written = run("COMMIT");
  if (!written) (void)run("ROLLBACK");  // the first error is the one to tell
  return written;
}

Status RecordStore::write(const std::vector<job::Record>& records) {
  if (records.empty()) return ok();
  GW_TRY(Statement put, prepare("INSERT OR REPLACE INTO records VALUES(?1, ?2, ?3)"));
  GW_TRY(Statement remove, prepare("DELETE FROM records WHERE key = ?1"));
  for (const job::Record& record : records) {
    sqlite3_stmt* statement = record.value ? put.get() : remove.get();
    bind_blob(statement, 1, record.key);
    if (record.value) {
      bind_blob(statement, 2, *record.value);
      sqlite3_bind_int64(statement, 3, sum_of(record.key, *record.value));
    }
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    if (code != SQLITE_DONE) return explain(code, "write to");
  }
  return ok();
}

// The end of the range is the first key after all that begin so; a prefix of nothing but 0xff has none.
Status RecordStore::drop(const std::string& prefix) {
  std::string end = prefix;
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(end.back() + 1);
  GW_TRY(Statement remove,
         prepare(end.empty() ? "DELETE FROM records WHERE key >= ?1" : "DELETE FROM records WHERE key >= ?1 AND key < ?2"));
  bind_blob(remove.get(), 1, prefix);
  if (!end.empty()) bind_blob(remove.get(), 2, end);
  const int code = sqlite3_step(remove.get());
  if (code != SQLITE_DONE) return explain(code, "write to");
  return ok();
}

// --- SQLite

Status RecordStore::run(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return explain(code, "use");
  return ok();
}

Result<RecordStore::Statement> RecordStore::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return explain(code, "use");
  return Statement(statement);
}

Result<std::int64_t> RecordStore::number(const std::string& sql) {
  GW_TRY(Statement statement, prepare(sql));
  const int code = sqlite3_step(statement.get());
  if (code != SQLITE_ROW) return explain(code, "read");
  return sqlite3_column_int64(statement.get(), 0);
}

}  // namespace gw::node
