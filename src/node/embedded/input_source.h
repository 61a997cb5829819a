#pragma once
// Where the standard input of a program comes from.

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "os/files/unique_fd.h"

namespace gw::node {

// A descriptor of the command, or a file that is named by its path: then a later command continues where this one has stopped. Belongs to
// one thread.
class InputSource {
 public:
  // The descriptor stays the caller's.
  explicit InputSource(int descriptor) : descriptor_(descriptor) {}

  // Reads from this file from now on, beginning with byte `taken`; a pipe continues by itself. Kind::not_found.
  Status open(const std::filesystem::path& file, std::uint64_t taken);

  int descriptor() const { return file_ ? file_.get() : descriptor_; }
  // The next bytes, at most `limit`, without blocking if poll(2) says so; empty: the end. Kind::timeout: not yet.
  Result<std::string> read(std::size_t limit);
  // The last bytes that were read are to be read again. False: this source cannot.
  bool put_back(std::size_t bytes);

 private:
  int descriptor_;
  os::UniqueFd file_;
};

}  // namespace gw::node
