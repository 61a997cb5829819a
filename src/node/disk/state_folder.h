#pragma once
// The folder in which a daemon keeps everything it must remember.

#include <filesystem>

#include "base/result.h"
#include "os/unique_fd.h"

namespace gw::node {

// One daemon's folder, locked for as long as this object lives: the kernel lets go of the lock with the process, however that ends.
// Readable by this user alone. A value; any thread.
class StateFolder {
 public:
  // Makes the folder if it is not there. Kind::invalid: it is not ours alone; Kind::overloaded: another daemon has it.
  static Result<StateFolder> open(const std::filesystem::path& path);
  // Whether a daemon has it now.
  static bool in_use(const std::filesystem::path& path);

  std::filesystem::path key_file() const { return path_ / "key.pem"; }
  std::filesystem::path share_file() const { return path_ / "share"; }
  std::filesystem::path records_file() const { return path_ / "records.db"; }
  std::filesystem::path blobs_folder() const { return path_ / "blobs"; }
  std::filesystem::path jobs_folder() const { return path_ / "jobs"; }
  const std::filesystem::path& path() const { return path_; }

 private:
  StateFolder(std::filesystem::path path, os::UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  os::UniqueFd lock_;
};

}  // namespace gw::node
