#include "node/embedded/job_file.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "job/records.h"
#include "os/files/file.h"
#include "os/files/io.h"
#include "os/files/new_file.h"

namespace gw::node {
namespace {

constexpr int kJobFileApplication = 0x47444a46;  // "GDJF"
constexpr int kJobFileFormat = 3;
constexpr int kMaxValueBytes = 320 << 20;       // a module has at most 256 MiB
constexpr std::size_t kApplicationOffset = 68;  // in the header of a SQLite database
constexpr const char* kAllEffects =
    "SELECT thread, epoch, stream, stream_id, sequence, kind, digest, bytes, sum FROM effects ORDER BY number";
constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

std::int64_t sum_over(std::initializer_list<std::string_view> parts) {
  Sha256 hash;
  for (const std::string_view part : parts) {
    const std::uint64_t length = part.size();
    hash.update({reinterpret_cast<const std::uint8_t*>(&length), sizeof length});
    hash.update(as_bytes(part));
  }
  const Hash256 digest = hash.finish();
  std::int64_t sum = 0;
  std::memcpy(&sum, digest.bytes.data(), sizeof sum);
  return sum;
}

std::int64_t sum_of_entry(const job::EffectEntry& entry) {
  const job::StoredEffect& header = entry.header;
  return sum_over({fmt::format("{} {} {} {} {} {} {}", header.thread.value(), header.epoch, static_cast<int>(header.stream.kind),
                               header.stream.id, header.sequence, static_cast<int>(header.kind), header.digest),
                   entry.bytes});
}

std::uint64_t column_number(sqlite3_stmt* row, int column) { return static_cast<std::uint64_t>(sqlite3_column_int64(row, column)); }

void bind_number(sqlite3_stmt* statement, int index, std::uint64_t number) {
  sqlite3_bind_int64(statement, index, static_cast<std::int64_t>(number));
}

std::filesystem::path name_beside(const std::filesystem::path& path) {
  return path.parent_path() / fmt::format(".{}.{}.new", path.filename().string(), ::getpid());
}

Error damaged_file(const std::string& file, std::string_view what) {
  return fail(Kind::corrupt, "{} is damaged ({}): put back a copy of it, or run the program from the beginning", file, what);
}

Sqlite::Explain told_about_job(const std::filesystem::path& path) {
  return [file = path.string()](int code, std::string_view doing, const char* why, int) -> Error {
    switch (code) {
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
        return damaged_file(file, why);
      case SQLITE_FULL:
        return fail(Kind::overloaded, "no room is left to {} {}: free some, then continue with: godwit resume {}", doing, file, file);
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        return fail(Kind::overloaded, "{} is in use by another command: wait until it has ended", file);
      case SQLITE_CANTOPEN:
      case SQLITE_PERM:
      case SQLITE_READONLY:
        return fail(Kind::invalid, "cannot {} {}: {}", doing, file, why);
      default:
        return fail(Kind::internal, "cannot {} {}: {}", doing, file, why);
    }
  };
}

}  // namespace

std::optional<job::Effect> rest_to_show(const job::Effect& effect, const std::map<job::ThreadId, Unshown>& unshown) {
  const auto from = unshown.find(job::ThreadId{effect.thread()});
  if (from == unshown.end() || effect.sequence() < from->second.sequence || !(effect.has_output() || effect.has_report()))
    return std::nullopt;
  job::Effect rest = effect;
  if (effect.has_output() && effect.sequence() == from->second.sequence)
    rest.mutable_output()->mutable_bytes()->erase(0, std::min<std::size_t>(from->second.shown_bytes, effect.output().bytes().size()));
  return rest;
}

JobFile::~JobFile() = default;

bool JobFile::is_job_file(ByteView head) {
  if (head.size() < kHeadBytes || !as_text(head).starts_with(kSqliteMagic)) return false;
  std::uint32_t application = 0;
  for (std::size_t i = 0; i < 4; ++i) application = application << 8 | head[kApplicationOffset + i];
  return application == kJobFileApplication;
}

Error JobFile::damaged(std::string_view what) const { return damaged_file(file_.string(), what); }

// --- opening

Result<std::unique_ptr<JobFile>> JobFile::open(const std::filesystem::path& path, Mode mode) {
  sqlite3* opened = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (mode == Mode::create ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
  std::unique_ptr<JobFile> file(new JobFile(path, Sqlite(opened, told_about_job(path))));
  if (code != SQLITE_OK) return file->database_.explain(code, "open");
  // The file may come from a stranger: no code of its schema runs, and no value is larger than the largest module.
  for (const int what : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA})
    sqlite3_db_config(opened, what, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  // The file is open in one process at a time, and has no third file beside itself and its log.
  GW_TRY_VOID(
      file->database_.run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY"));
  return file;
}

// The file is made beside its place and linked there when it is whole.
Result<std::unique_ptr<JobFile>> JobFile::create(const std::filesystem::path& path, const wire::pb::JobSpec& spec, ByteView module) {
  // SQLite would take the log of a job file that was killed and removed for that of the new one.
  const std::string log = path.string() + "-wal";
  std::error_code unknown;
  if (std::filesystem::exists(log, unknown))
    return fail(Kind::invalid, "{} is left of another job file: remove it, or name another file", log);
  const std::filesystem::path beside = name_beside(path);
  if (Status made = make(beside, spec, module, [](JobFile&) { return ok(); }); !made) {
    ::unlink(beside.c_str());
    return made.error();
  }
  GW_TRY(const os::Linked linked, os::link_new_file(beside, path));
  if (linked == os::Linked::was_there) return fail(Kind::invalid, "{} exists already: remove it, or name another file", path.string());
  return open(path);
}

Status JobFile::replace(const std::filesystem::path& path, const wire::pb::JobSpec& spec, ByteView module,
                        const std::function<Status(JobFile&)>& fill) {
  const std::filesystem::path beside = name_beside(path);
  Status made = make(beside, spec, module, fill);
  if (made) ::unlink((path.string() + "-wal").c_str());  // of the job that is replaced
  if (made && ::rename(beside.c_str(), path.c_str()) != 0)
    made = fail(Kind::internal, "cannot write {}: {}", path.string(), os::reason(errno));
  if (!made) {
    ::unlink(beside.c_str());
    ::unlink((beside.string() + "-wal").c_str());
    return made;
  }
  return os::flush_folder(path.has_parent_path() ? path.parent_path() : ".");
}

// Closed when it returns, so that nothing lies beside it.
Status JobFile::make(const std::filesystem::path& path, const wire::pb::JobSpec& spec, ByteView module,
                     const std::function<Status(JobFile&)>& fill) {
  ::unlink(path.c_str());
  GW_TRY(const auto file, open(path, Mode::create));
  GW_TRY_VOID(file->create_schema(spec, module));
  GW_TRY_VOID(file->prepare_all());
  GW_TRY_VOID(fill(*file));
  return file->compact();  // closing would not tell that the log did not fit into the file
}

Result<std::unique_ptr<JobFile>> JobFile::open(const std::filesystem::path& path) {
  GW_TRY(auto file, open(path, Mode::open));
  GW_TRY_VOID(file->check_schema());
  GW_TRY_VOID(file->prepare_all());
  return file;
}

Status JobFile::create_schema(const wire::pb::JobSpec& spec, ByteView module) {
  GW_TRY_VOID(
      database_.run(fmt::format("BEGIN IMMEDIATE;"
                                "CREATE TABLE records(key BLOB PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL);"
                                "CREATE TABLE blobs(hash BLOB PRIMARY KEY, bytes BLOB NOT NULL);"
                                "CREATE TABLE effects(number INTEGER PRIMARY KEY, thread INTEGER NOT NULL, epoch INTEGER NOT NULL,"
                                " stream INTEGER NOT NULL, stream_id INTEGER NOT NULL, sequence INTEGER NOT NULL, kind INTEGER NOT NULL,"
                                " digest INTEGER NOT NULL, bytes BLOB NOT NULL, sum INTEGER NOT NULL);"
                                "CREATE TABLE job(spec BLOB NOT NULL, module BLOB NOT NULL, sum INTEGER NOT NULL, boot INTEGER NOT NULL,"
                                " input_taken INTEGER NOT NULL);"
                                "CREATE TABLE unshown(thread INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, shown_bytes INTEGER NOT NULL);"
                                "PRAGMA application_id={};"
                                "PRAGMA user_version={};",
                                kJobFileApplication, kJobFileFormat)));
  GW_TRY(const Statement insert, database_.prepare("INSERT INTO job VALUES(?1, ?2, ?3, 0, 0)"));
  const std::string words = spec.SerializeAsString();
  bind_bytes(insert.get(), 1, words);
  bind_bytes(insert.get(), 2, as_text(module));
  sqlite3_bind_int64(insert.get(), 3, sum_over({words, as_text(module)}));
  GW_TRY_VOID(database_.step(insert.get()));
  return database_.run("COMMIT");
}

Status JobFile::check_schema() {
  GW_TRY(const std::int64_t application, database_.number("PRAGMA application_id"));
  GW_TRY(const std::int64_t format, database_.number("PRAGMA user_version"));
  if (application != kJobFileApplication) return fail(Kind::invalid, "{} is a database of another program", file_.string());
  if (format > kJobFileFormat)
    return fail(Kind::unsupported, "{} is of format {}, and this godwit knows {}: use the newer one", file_.string(), format,
                kJobFileFormat);
  if (format < kJobFileFormat)
    return fail(Kind::unsupported, "{} is of format {} of an earlier godwit: continue it with that one", file_.string(), format);
  GW_TRY(const Statement check, database_.prepare("PRAGMA quick_check(1)"));
  int code = sqlite3_step(check.get());
  if (code != SQLITE_ROW) return database_.explain(code, "check");
  if (const std::string found = column_bytes(check.get(), 0); found != "ok") return damaged(found);
  GW_TRY(const Statement row, database_.prepare("SELECT spec, module, sum FROM job"));
  code = sqlite3_step(row.get());
  if (code != SQLITE_ROW) return damaged("it does not say what it runs");
  const std::string words = column_bytes(row.get(), 0), module = column_bytes(row.get(), 1);
  if (sqlite3_column_int64(row.get(), 2) != sum_over({words, module}) || !spec_.ParseFromString(words)) return damaged("what it runs");
  module_.assign(module.begin(), module.end());
  return ok();
}

Status JobFile::prepare_all() {
  GW_TRY(put_record_, database_.prepare("INSERT OR REPLACE INTO records VALUES(?1, ?2, ?3)"));
  GW_TRY(drop_record_, database_.prepare("DELETE FROM records WHERE key = ?1"));
  GW_TRY(put_effect_, database_.prepare("INSERT INTO effects VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  GW_TRY(put_blob_, database_.prepare("INSERT OR REPLACE INTO blobs VALUES(?1, ?2)"));
  GW_TRY(drop_blob_, database_.prepare("DELETE FROM blobs WHERE hash = ?1"));
  GW_TRY(get_blob_, database_.prepare("SELECT bytes FROM blobs WHERE hash = ?1"));
  return ok();
}

Result<std::uint64_t> JobFile::raise_boot() {
  GW_TRY_VOID(database_.run("UPDATE job SET boot = boot + 1"));
  GW_TRY(const std::int64_t boot, database_.number("SELECT boot FROM job"));
  if (boot < 1 || boot >= std::int64_t{1} << 31) return damaged("the count of starts");
  return static_cast<std::uint64_t>(boot);
}

Result<std::uint64_t> JobFile::input_taken() {
  GW_TRY(const std::int64_t taken, database_.number("SELECT input_taken FROM job"));
  return static_cast<std::uint64_t>(taken);
}

// --- reading

Result<peer::Stored> JobFile::stored() {
  peer::Stored stored{.records = {},
                      .damaged = {},
                      .blob = [this](const Hash256& hash) -> std::optional<std::string> {
                        auto bytes = load(hash);
                        return bytes ? std::optional(*std::move(bytes)) : std::nullopt;
                      },
                      .effects = [this](const job::JobId&) { return headers(); }};
  GW_TRY(const Statement rows, database_.prepare("SELECT key, value, sum FROM records"));
  for (;;) {
    GW_TRY(const bool more, database_.next(rows.get()));
    if (!more) return stored;
    std::string key = column_bytes(rows.get(), 0), value = column_bytes(rows.get(), 1);
    if (sqlite3_column_int64(rows.get(), 2) != sum_over({key, value})) return damaged("a record");
    stored.records.emplace(std::move(key), std::move(value));
  }
}

Result<std::string> JobFile::load(const Hash256& hash) {
  bind_bytes(get_blob_.get(), 1, as_text(hash.bytes));
  const int code = sqlite3_step(get_blob_.get());
  std::string bytes = code == SQLITE_ROW ? column_bytes(get_blob_.get(), 0) : std::string();
  sqlite3_reset(get_blob_.get());
  if (code == SQLITE_DONE) return damaged("a page of an image is missing");
  if (code != SQLITE_ROW) return database_.explain(code, "read");
  if (sha256(as_bytes(bytes)) != hash) return damaged("a page of an image");
  return bytes;
}

Result<job::EffectEntry> JobFile::entry_at(sqlite3_stmt* row) const {
  job::EffectEntry entry{.header = {.thread = job::ThreadId{column_number(row, 0)},
                                    .epoch = column_number(row, 1),
                                    .stream = {static_cast<wire::StreamKind>(sqlite3_column_int(row, 2)), column_number(row, 3)},
                                    .sequence = column_number(row, 4),
                                    .kind = static_cast<job::EffectKind>(sqlite3_column_int(row, 5)),
                                    .digest = column_number(row, 6)},
                         .bytes = column_bytes(row, 7)};
  entry.header.bytes = static_cast<std::uint32_t>(entry.bytes.size());
  if (sqlite3_column_int64(row, 8) != sum_of_entry(entry)) return damaged("what the program has written");
  return entry;
}

Status JobFile::visit_effects(const std::function<Status(const job::Effect&)>& visit) {
  GW_TRY(const Statement rows, database_.prepare(kAllEffects));
  for (;;) {
    GW_TRY(const bool more, database_.next(rows.get()));
    if (!more) return ok();
    GW_TRY(const job::EffectEntry entry, entry_at(rows.get()));
    GW_TRY(const job::Effect effect, job::effect_of(entry));
    GW_TRY_VOID(visit(effect));
  }
}

Result<std::vector<job::StoredEffect>> JobFile::headers() {
  std::vector<job::StoredEffect> all;
  GW_TRY(const Statement rows, database_.prepare(kAllEffects));
  for (;;) {
    GW_TRY(const bool more, database_.next(rows.get()));
    if (!more) return all;
    GW_TRY(const job::EffectEntry entry, entry_at(rows.get()));
    all.push_back(entry.header);
  }
}

std::uint64_t JobFile::file_bytes() const {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(file_, ignored);
  auto log = file_;
  log += "-wal";
  const auto log_size = std::filesystem::file_size(log, ignored);
  return (size == static_cast<std::uintmax_t>(-1) ? 0 : size) + (log_size == static_cast<std::uintmax_t>(-1) ? 0 : log_size);
}

Status JobFile::leave_unshown(const std::map<job::ThreadId, Unshown>& unshown) {
  GW_TRY(const Statement insert, database_.prepare("INSERT OR REPLACE INTO unshown VALUES(?1, ?2, ?3)"));
  for (const auto& [thread, from] : unshown) {
    bind_number(insert.get(), 1, thread.value());
    bind_number(insert.get(), 2, from.sequence);
    bind_number(insert.get(), 3, from.shown_bytes);
    GW_TRY_VOID(database_.step(insert.get()));
  }
  return ok();
}

Result<std::map<job::ThreadId, Unshown>> JobFile::take_unshown() {
  GW_TRY(auto left, unshown());
  if (!left.empty()) GW_TRY_VOID(database_.run("DELETE FROM unshown"));
  return left;
}

Result<std::map<job::ThreadId, Unshown>> JobFile::unshown() {
  std::map<job::ThreadId, Unshown> unshown;
  GW_TRY(const Statement rows, database_.prepare("SELECT thread, sequence, shown_bytes FROM unshown"));
  for (;;) {
    GW_TRY(const bool more, database_.next(rows.get()));
    if (!more) break;
    unshown[job::ThreadId{column_number(rows.get(), 0)}] = {column_number(rows.get(), 1), column_number(rows.get(), 2)};
  }
  return unshown;
}

Status JobFile::compact() { return database_.run("PRAGMA wal_checkpoint(TRUNCATE)"); }

// --- writing

Status JobFile::commit(std::span<const DiskAction> actions) {
  if (actions.empty()) return ok();
  GW_TRY_VOID(database_.run("BEGIN IMMEDIATE"));
  Status written = ok();
  for (const DiskAction& action : actions) {
    written = std::visit([this](const auto& what) { return apply(what); }, action);
    if (!written) break;
  }
  if (written) written = database_.run("COMMIT");
  if (!written) (void)database_.run("ROLLBACK");  // the first error is the one to tell
  return written;
}

Status JobFile::apply(const job::Persist& persist) {
  for (const job::Append& one : persist.appends)
    if (one.entry.header.kind != job::EffectKind::details) GW_TRY_VOID(append(one.entry));  // for the API of a daemon, and no effect
  for (const job::Record& record : persist.records) {
    sqlite3_stmt* statement = record.value ? put_record_.get() : drop_record_.get();
    bind_bytes(statement, 1, record.key);
    if (record.value) {
      bind_bytes(statement, 2, *record.value);
      sqlite3_bind_int64(statement, 3, sum_over({record.key, *record.value}));
    }
    GW_TRY_VOID(database_.step(statement));
  }
  return ok();
}

Status JobFile::append(const job::EffectEntry& entry) {
  sqlite3_stmt* statement = put_effect_.get();
  bind_number(statement, 1, entry.header.thread.value());
  bind_number(statement, 2, entry.header.epoch);
  sqlite3_bind_int(statement, 3, static_cast<int>(entry.header.stream.kind));
  bind_number(statement, 4, entry.header.stream.id);
  bind_number(statement, 5, entry.header.sequence);
  sqlite3_bind_int(statement, 6, static_cast<int>(entry.header.kind));
  bind_number(statement, 7, entry.header.digest);
  bind_bytes(statement, 8, entry.bytes);
  sqlite3_bind_int64(statement, 9, sum_of_entry(entry));
  return database_.step(statement);
}

// Keys of a prefix are few: the records of one job, by kind.
Status JobFile::apply(const job::DropRecords& drop) {
  GW_TRY(const Statement remove, database_.prepare("DELETE FROM records WHERE substr(key, 1, ?2) = ?1"));
  bind_bytes(remove.get(), 1, drop.prefix);
  bind_number(remove.get(), 2, drop.prefix.size());
  return database_.step(remove.get());
}

Status JobFile::apply(const job::StoreBlob& blob) {
  bind_bytes(put_blob_.get(), 1, as_text(blob.hash.bytes));
  bind_bytes(put_blob_.get(), 2, as_text(blob.bytes.view()));
  return database_.step(put_blob_.get());
}

Status JobFile::apply(const job::DropBlob& blob) {
  bind_bytes(drop_blob_.get(), 1, as_text(blob.hash.bytes));
  return database_.step(drop_blob_.get());
}

Status JobFile::apply(const job::RetainBlobs& retain) {
  const std::set<Hash256> kept(retain.hashes.begin(), retain.hashes.end());
  std::vector<Hash256> dropped;
  GW_TRY(const Statement rows, database_.prepare("SELECT hash FROM blobs"));
  for (;;) {
    GW_TRY(const bool more, database_.next(rows.get()));
    if (!more) break;
    const std::string name = column_bytes(rows.get(), 0);
    Hash256 hash;
    if (name.size() != hash.bytes.size()) return damaged("the name of a blob");
    std::ranges::copy(as_bytes(name), hash.bytes.begin());
    if (!kept.contains(hash)) dropped.push_back(hash);
  }
  for (const Hash256& hash : dropped) GW_TRY_VOID(apply(job::DropBlob{hash}));
  return ok();
}

Status JobFile::apply(const InputTaken& taken) {
  GW_TRY(const Statement update, database_.prepare("UPDATE job SET input_taken = ?1"));
  bind_number(update.get(), 1, taken.bytes);
  return database_.step(update.get());
}

}  // namespace gw::node
