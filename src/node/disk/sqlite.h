#pragma once
// SQLite with errors as results.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;  // kept out of headers
struct sqlite3_stmt;

namespace gw::node {

// A database and its prepared statements. The owner provides the function that turns SQLite's errors into sentences. Belongs to one thread
// at a time.
class Sqlite {
 public:
  // `doing`: "open", "read", ...; `why`: in SQLite's words; `system_error`: the errno behind it, or 0.
  using Explain = std::function<Error(int code, std::string_view doing, const char* why, int system_error)>;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  // Takes ownership of the database, which may have failed to open.
  Sqlite(sqlite3* database, Explain explain) : database_(database), explain_(std::move(explain)) {}

  sqlite3* handle() const { return database_.get(); }
  Error explain(int code, std::string_view doing) const;

  // Statements without parameters or results.
  Status run(const std::string& sql);
  Result<Statement> prepare(const std::string& sql);
  // The first number of the first row.
  Result<std::int64_t> number(const std::string& sql);
  // Runs a statement without results, and makes it ready for the next time.
  Status step(sqlite3_stmt* statement);
  // The next row; false: there is none.
  Result<bool> next(sqlite3_stmt* statement);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  std::unique_ptr<sqlite3, Close> database_;
  Explain explain_;
};

std::string column_bytes(sqlite3_stmt* row, int column);
// REQUIRES: the bytes stay valid until the statement was run.
void bind_bytes(sqlite3_stmt* statement, int index, std::string_view bytes);

}  // namespace gw::node
