#pragma once
// The input files of a job on its submitter's machine, and its output files there.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "os/files/unique_fd.h"
#include "wire/worker.pb.h"

namespace gw::node {

// A file or folder of the submitter's machine and its name in the guest's tree (no leading slash, no "." or "..").
struct Mount {
  std::filesystem::path host;
  std::string guest;
};

inline constexpr std::size_t kChunkBytes = 1u << 20;

// A digest of a program's inputs: equal if and only if names and contents are. File times do not count.
std::string digest_of_inputs(const std::vector<wire::pb::InputEntry>& entries);
// The error for inputs that have changed.
Error inputs_changed();

// The inputs of a job: hashed once, when the job starts, and then read in pieces by hash as the guest asks for them.
//
// If a file changes while the job runs, its pieces do not match their hashes any more: reading one fails, so the guest never sees changed
// bytes. Symbolic links inside a folder stay links in the guest's tree; special files are refused. Belongs to one thread.
class InputFiles {
 public:
  static constexpr std::size_t kMaxEntries = 65536;
  static constexpr std::size_t kMaxChunks = 262144;  // 256 GiB

  static Result<InputFiles> scan(const std::vector<Mount>& mounts);

  const std::vector<wire::pb::InputEntry>& entries() const { return entries_; }
  // Hashes what is at `mount` too and returns its entries, which are not among entries(): one task has them, and not all.
  Result<std::vector<wire::pb::InputEntry>> add_apart(const Mount& mount);
  // The pieces of all files, each once.
  std::vector<Hash256> chunks() const;
  Result<Bytes> read_chunk(const Hash256& hash) const;

 private:
  struct FileRange {
    std::filesystem::path file;
    std::uint64_t offset;
    std::size_t size;
  };

  // How to treat a link: as its target, or as the link itself.
  enum class Links : std::uint8_t { follow, keep };
  Status add(const std::filesystem::path& host, const std::string& guest, Links links);
  Status add_file(const std::filesystem::path& host, wire::pb::InputEntry entry);

  std::vector<wire::pb::InputEntry> entries_;
  std::unordered_map<Hash256, FileRange> chunks_;
};

// Collects the output files of one job under temporary names and renames them when the job has ended, successfully or not: an output file
// is written whole or not at all.
//
// Every path comes from the guest and is checked: it must lie under a declared output (a mount without a guest path declares all), nothing
// on the way may be a link, and links that lead out of their folder are refused. Belongs to one thread.
class OutputFiles {
 public:
  // `tag`: the suffix of the temporary names; files that a killed process with the same tag has left are overwritten. Empty: unique names.
  explicit OutputFiles(std::vector<Mount> mounts, std::string tag = {}) : mounts_(std::move(mounts)), tag_(std::move(tag)) {}
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  Status take(const wire::pb::Effect::OutputFile& piece);
  // Renames all collected files to their final names.
  Status place();

 private:
  struct Pending {
    std::filesystem::path temporary, final;
    os::UniqueFd fd;
    std::uint64_t size = 0;
  };

  Result<std::filesystem::path> place_of(const std::string& guest) const;
  Status start_file(const std::string& guest);

  std::vector<Mount> mounts_;
  std::string tag_;
  std::map<std::string, Pending> files_;  // by guest path
  std::vector<std::filesystem::path> folders_;
  std::vector<std::pair<std::filesystem::path, std::string>> links_;
};

}  // namespace gw::node
