#pragma once
// What a peer has to remember, on disk: small values by key.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job/actions.h"

struct sqlite3;  // kept out of this header
struct sqlite3_stmt;

namespace gw::node {

// A SQLite database in WAL mode. Every value is stored with a sum over key and value, so that a changed byte is found when it is read, not
// when it is believed.
//
// A batch is there with all its records or with none, whatever ends the process or the machine, and for good when commit() has returned.
// After a failed commit nothing of it is there. Blocks on the disk; belongs to one thread at a time.
class RecordStore {
 public:
  using Records = std::map<std::string, std::string>;
  struct Batch {
    std::vector<job::Record> records;
    std::string dropped_prefix;  // every record whose key begins so is gone; empty: none
  };

  // Made if it is not there. Kind::corrupt: it is damaged; Kind::unsupported: it is of a later godwit.
  static Result<RecordStore> open(const std::filesystem::path& file);

  // The number of this life of the peer, higher than all before; on the medium before it is returned.
  Result<std::uint64_t> raise_boot();
  struct Loaded {
    Records records;
    std::vector<std::string> damaged;  // keys of values that are not what was written
  };
  // Everything. Kind::corrupt if the database itself is damaged.
  Result<Loaded> load();
  // Kind::not_found, Kind::corrupt.
  Result<std::string> read(const std::string& key);
  // All batches as one transaction, on the medium when it returns: the more batches, the less each costs.
  Status commit(std::span<const Batch> batches);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Database = std::unique_ptr<sqlite3, Close>;
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  RecordStore(std::filesystem::path file, Database database) : file_(std::move(file)), database_(std::move(database)) {}

  Status prepare_schema();
  Status run(const std::string& sql);
  Result<std::int64_t> number(const std::string& sql);
  Result<Statement> prepare(const std::string& sql);
  Status write(const std::vector<job::Record>& records);
  Status drop(const std::string& prefix);
  Result<std::string> checked_value(const std::string& key, sqlite3_stmt* row, int column) const;
  Error explain(int code, std::string_view doing) const;

  std::filesystem::path file_;
  Database database_;
};

}  // namespace gw::node
