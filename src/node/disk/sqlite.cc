#include "node/disk/sqlite.h"

#include <sqlite3.h>

namespace gw::node {

void Sqlite::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Sqlite::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Error Sqlite::explain(int code, std::string_view doing) const {
  return explain_(code & 0xff, doing, sqlite3_errmsg(database_.get()), sqlite3_system_errno(database_.get()));
}

Status Sqlite::run(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return explain(code, "use");
  return ok();
}

Result<Sqlite::Statement> Sqlite::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return explain(code, "use");
  return Statement(statement);
}

Result<std::int64_t> Sqlite::number(const std::string& sql) {
  GW_TRY(const Statement statement, prepare(sql));
  const int code = sqlite3_step(statement.get());
  if (code != SQLITE_ROW) return explain(code, "read");
  return sqlite3_column_int64(statement.get(), 0);
}

Status Sqlite::step(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  if (code != SQLITE_DONE) return explain(code, "write to");
  return ok();
}

Result<bool> Sqlite::next(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) return explain(code, "read");
  return code == SQLITE_ROW;
}

std::string column_bytes(sqlite3_stmt* row, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
}

void bind_bytes(sqlite3_stmt* statement, int index, std::string_view bytes) {
  static constexpr char kNothing = 0;  // a null pointer would bind NULL
  sqlite3_bind_blob64(statement, index, bytes.empty() ? &kNothing : bytes.data(), bytes.size(), SQLITE_STATIC);
}

}  // namespace gw::node
