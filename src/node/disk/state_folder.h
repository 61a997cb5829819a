#pragma once
// The folder with the durable state of a daemon.

#include <filesystem>

#include "base/result.h"
#include "os/files/unique_fd.h"

namespace gw::node {

// The folder of a daemon, locked for as long as this object lives. The kernel releases the lock when the process ends, however it ends.
// Readable by this user alone. A value; any thread.
class StateFolder {
 public:
  // Creates the folder if it is missing. Kind::invalid: other users can access it; Kind::overloaded: another daemon uses it.
  static Result<StateFolder> open(const std::filesystem::path& path);
  // Whether a daemon uses the folder now.
  static bool in_use(const std::filesystem::path& path);

  std::filesystem::path key_file() const { return path_ / "key.pem"; }
  std::filesystem::path share_file() const { return path_ / "share"; }
  std::filesystem::path records_file() const { return path_ / "records.db"; }
  std::filesystem::path blobs_folder() const { return path_ / "blobs"; }
  std::filesystem::path jobs_folder() const { return path_ / "jobs"; }
  std::filesystem::path spare_file() const { return path_ / "spare"; }
  const std::filesystem::path& path() const { return path_; }

 private:
  StateFolder(std::filesystem::path path, os::UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  os::UniqueFd lock_;
};

}  // namespace gw::node
