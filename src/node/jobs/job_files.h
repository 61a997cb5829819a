#pragma once
// The files a job takes from its owner's machine, and those it leaves there.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "os/unique_fd.h"
#include "wire/journal.pb.h"

namespace gw::node {

// A file or folder of the owner's machine under its name in the guest's tree (no leading slash, no "." or "..").
struct Mount {
  std::filesystem::path host;
  std::string guest;
};

inline constexpr std::size_t kChunkBytes = 1u << 20;

// The inputs of a job: looked at once, when the job starts, and then read in pieces by hash as the guest asks for them.
//
// A file that changes while the job runs gives pieces that do not match any more: reading one fails with a sentence, it is never handed
// out. Symbolic links inside a folder stay links in the guest's tree; special files are refused. Belongs to one thread.
class InputFiles {
 public:
  static constexpr std::size_t kMaxEntries = 65536;
  static constexpr std::size_t kMaxChunks = 262144;  // 256 GiB

  static Result<InputFiles> look_at(const std::vector<Mount>& mounts);

  const std::vector<wire::pb::InputEntry>& entries() const { return entries_; }
  // The pieces of all files, each once.
  std::vector<Hash256> chunks() const;
  Result<Bytes> read_chunk(const Hash256& hash) const;

 private:
  struct FileRange {
    std::filesystem::path file;
    std::uint64_t offset;
    std::size_t size;
  };

  // Of a link: what it points to, or the link itself.
  enum class Links : std::uint8_t { follow, keep };
  Status add(const std::filesystem::path& host, const std::string& guest, Links links);
  Status add_file(const std::filesystem::path& host, wire::pb::InputEntry entry);

  std::vector<wire::pb::InputEntry> entries_;
  std::unordered_map<Hash256, FileRange> chunks_;
};

// Collects the output files of one job beside their places and puts them there when the job has ended well or not: whole files, by rename.
//
// Every path comes from the guest and is checked: it must lie under a declared output, nothing on the way may be a link, and links that
// lead out of their folder are refused. Belongs to one thread.
class OutputFiles {
 public:
  explicit OutputFiles(std::vector<Mount> mounts) : mounts_(std::move(mounts)) {}
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  Status take(const wire::pb::Effect::OutputFile& piece);
  // Everything that was taken goes to its place.
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
  std::map<std::string, Pending> files_;  // by guest path
  std::vector<std::filesystem::path> folders_;
  std::vector<std::pair<std::filesystem::path, std::string>> links_;
};

}  // namespace gw::node
