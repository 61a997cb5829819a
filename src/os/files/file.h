#pragma once
// Whole files, in and out.

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "os/files/unique_fd.h"

namespace gw::os {

// Reads a regular file, a pipe or a device to its end. More than `max_bytes` is Kind::overloaded, a missing file Kind::not_found.
Result<Bytes> read_file(const std::filesystem::path& path, std::size_t max_bytes);

// The rest of an open file, pipe or device; `name` is what messages call it.
Result<Bytes> read_to_end(int fd, std::string_view name, std::size_t max_bytes);

// The first bytes of a file, or all of it if it is shorter.
Result<Bytes> read_head(const std::filesystem::path& path, std::size_t bytes);

// Whether a file that has been written survives a power failure. Flushing costs milliseconds.
enum class Durability { flushed, unflushed };

// Writes a temporary file in the same folder and renames it: readers see the old content or all of the new.
// The folder must exist. After a failure the old content is still there and no temporary file is left. Kind::overloaded: no room.
Status write_file_atomic(const std::filesystem::path& path, ByteView content, Durability durability = Durability::flushed);

// Creates a file that this user alone may read, flushed and complete from the moment its name is there. A file that is already there
// stays as it is: of several processes that create one, the first wins, and all of them read its content afterwards.
Status create_private_file(const std::filesystem::path& path, ByteView content);

// Files that are written together, because flushing many costs hardly more than flushing one: add() writes each under another name,
// commit() puts all in their places and returns when they, and their names, are on the medium. Without commit() nothing has changed.
//
// Limit: kMaxFiles, which are open at once. Belongs to one thread.
class FileGroup {
 public:
  static constexpr std::size_t kMaxFiles = 128;

  FileGroup() = default;
  ~FileGroup();
  FileGroup(const FileGroup&) = delete;
  FileGroup& operator=(const FileGroup&) = delete;

  // Kind::overloaded: no room on the disk. REQUIRES: fewer than kMaxFiles were added; the folder exists.
  Status add(const std::filesystem::path& path, ByteView content);
  Status commit();

 private:
  struct File {
    UniqueFd fd;
    std::filesystem::path temporary;
    std::filesystem::path path;
  };
  std::vector<File> files_;
};

// Returns when the names in the folder are on the medium: of files made, renamed or removed there.
Status flush_folder(const std::filesystem::path& folder);

// $XDG_CACHE_HOME/godwit or ~/.cache/godwit, created if missing, readable by this user alone.
Result<std::filesystem::path> cache_dir();

// A new folder, removed with all its content when the object goes.
class TempDir {
 public:
  static Result<TempDir> make();
  ~TempDir();
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TempDir(std::filesystem::path path) : path_(std::move(path)) {}
  void remove() noexcept;

  std::filesystem::path path_;  // empty after a move
};

}  // namespace gw::os
