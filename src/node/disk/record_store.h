#pragma once
// The durable metadata of a peer: small values by key.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job/actions.h"
#include "node/disk/sqlite.h"

namespace gw::node {

// A SQLite database in WAL mode. Every value is stored with a checksum over key and value, so that a changed byte is found when the value
// is read.
//
// A batch is stored as a whole or not at all, however the process or the machine ends, and is durable when commit() has returned. A failed
// commit stores nothing. The destructor copies the log to the main file and marks the store as closed (check_wal()). Blocks on the disk;
// belongs to one thread at a time.
class RecordStore {
 public:
  using Records = std::map<std::string, std::string>;
  struct Batch {
    std::vector<job::Record> records;
    std::string dropped_prefix;  // deletes every record whose key has this prefix; empty: none
  };

  RecordStore(RecordStore&&) = default;
  RecordStore& operator=(RecordStore&&) = default;
  ~RecordStore();

  // The checksum stored with a value.
  static std::int64_t sum_of(std::string_view key, std::string_view value);

  // Creates the store if it is missing. Kind::corrupt: it is damaged; Kind::unsupported: a later version of godwit has written it.
  static Result<RecordStore> open(const std::filesystem::path& file);

  // The number of this boot, higher than all before; durable before it is returned.
  Result<std::uint64_t> raise_boot();
  // Raises the boot number to at least this. For a repaired store.
  Status set_boot(std::uint64_t boot);
  struct Loaded {
    Records records;
    std::vector<std::string> damaged;  // keys of values with a wrong checksum
  };
  // Reads all records. Kind::corrupt if the database itself is damaged.
  Result<Loaded> load();
  // Kind::not_found, Kind::corrupt.
  Result<std::string> read(const std::string& key);
  // Writes all batches as one transaction, durable on return: the more batches, the less each costs.
  Status commit(std::span<const Batch> batches);

 private:
  RecordStore(std::filesystem::path file, Sqlite database) : file_(std::move(file)), database_(std::move(database)) {}

  Status prepare_schema();
  Status clear_closed_mark();
  Status write(const std::vector<job::Record>& records);
  Status drop(const std::string& prefix);
  Result<std::string> checked_value(const std::string& key, sqlite3_stmt* row, int column) const;

  std::filesystem::path file_;
  Sqlite database_;
  bool opened_ = false;  // the database is a store of a known format
  bool marked_ = false;  // as closed
};

}  // namespace gw::node
