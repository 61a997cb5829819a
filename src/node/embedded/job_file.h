#pragma once
// A program and all it needs to continue, in one file.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/disk/sqlite.h"
#include "node/embedded/job_store.h"
#include "wire/job_spec.pb.h"

namespace gw::node {

// The state of `godwit run --checkpoint-every`: a SQLite database with the records and blobs of the peer, everything the program has
// written, and the words of the command that started it (pb::JobSpec). docs/design/008-one-home.md.
//
// Every change for which commit() has returned survives a kill and a power failure (WAL, synchronous=FULL). Values and effects carry sums,
// so that a changed byte is found when it is read, not when it is used; blobs are checked by their hashes. A file belongs to one process at
// a time: a second one gets Kind::overloaded.
class JobFile final : public JobStore {
 public:
  static constexpr std::size_t kHeadBytes = 100;  // of a file, for is_job_file()
  static bool is_job_file(ByteView head);

  // Creates a file that is there with its whole content or not at all, whatever is killed. Kind::invalid: the file exists, or cannot be
  // made there.
  static Result<std::unique_ptr<JobFile>> create(const std::filesystem::path& file, const wire::pb::JobSpec& spec, ByteView module);
  // Makes a file with what `fill` puts there, in the place of one that may be there.
  static Status replace(const std::filesystem::path& file, const wire::pb::JobSpec& spec, ByteView module,
                        const std::function<Status(JobFile&)>& fill);
  // Kind::corrupt: it is damaged; Kind::unsupported: it is of a later godwit; Kind::overloaded: another process has it.
  static Result<std::unique_ptr<JobFile>> open(const std::filesystem::path& file);
  ~JobFile() override;

  const wire::pb::JobSpec& spec() const { return spec_; }
  const Bytes& module() const { return module_; }
  const std::filesystem::path& path() const { return file_; }
  // The boot number of the peer, higher than all before; on the medium before it is returned.
  Result<std::uint64_t> raise_boot();
  // The last InputTaken.
  Result<std::uint64_t> input_taken();

  Status commit(std::span<const DiskAction> actions) override;
  Result<peer::Stored> stored() override;
  std::uint64_t file_bytes() const override;
  Result<std::string> load(const Hash256& hash) override;

  // Output that is not shown when a command ends in order, for the next command. Taken once: after a kill no output is shown twice.
  Status leave_unshown(const std::map<job::ThreadId, Unshown>& unshown);
  Result<std::map<job::ThreadId, Unshown>> take_unshown();
  Result<std::map<job::ThreadId, Unshown>> unshown();  // without taking it

  // Leaves nothing beside the file: it may be copied.
  Status compact();

  // Everything the program has done, in order. Kind::corrupt: which effect is damaged.
  Status visit_effects(const std::function<Status(const job::Effect&)>& visit);

 private:
  using Statement = Sqlite::Statement;
  enum class Mode : std::uint8_t { create, open };

  JobFile(std::filesystem::path file, Sqlite database) : file_(std::move(file)), database_(std::move(database)) {}
  static Result<std::unique_ptr<JobFile>> open(const std::filesystem::path& file, Mode mode);
  static Status make(const std::filesystem::path& file, const wire::pb::JobSpec& spec, ByteView module,
                     const std::function<Status(JobFile&)>& fill);
  Status create_schema(const wire::pb::JobSpec& spec, ByteView module);
  Status check_schema();
  Status prepare_all();

  Status apply(const job::Persist& persist);
  Status apply(const job::DropRecords& drop);
  Status apply(const job::StoreBlob& blob);
  Status apply(const job::DropBlob& blob);
  Status apply(const job::RetainBlobs& retain);
  Status apply(const InputTaken& taken);
  Status append(const job::EffectEntry& entry);
  Result<std::vector<job::StoredEffect>> headers();
  Result<job::EffectEntry> entry_at(sqlite3_stmt* row) const;

  Error damaged(std::string_view what) const;

  std::filesystem::path file_;
  Sqlite database_;
  wire::pb::JobSpec spec_;
  Bytes module_;
  Statement put_record_, drop_record_, put_effect_, put_blob_, drop_blob_, get_blob_;
};

}  // namespace gw::node
