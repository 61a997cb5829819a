#pragma once
// Room on the disk of the state folder that is kept for the daemon itself.

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace gw::node {

// A file without content that occupies kBytes of the disk. When another program has filled the disk, removing the file leaves room for what
// the daemon must write to continue: its boot number, records, and that a job is forgotten, which frees the disk.
//
// Blocks on the disk; belongs to one thread at a time.
class SpareRoom {
 public:
  static constexpr std::uint64_t kBytes = 16u << 20;
  static constexpr std::uint64_t kLow = 8u << 20;  // less free space than this counts as a full disk

  // Does not reserve yet.
  explicit SpareRoom(std::filesystem::path file) : file_(std::move(file)) {}

  // Reserves the room. Kind::overloaded: that would leave less than 2 * kLow.
  Status reserve();
  // False: there was nothing to release.
  bool release();
  bool reserved() const;
  // The free bytes besides the reserved ones. Kind::internal: the system call failed.
  Result<std::uint64_t> free_bytes() const;

 private:
  std::filesystem::path file_;
};

}  // namespace gw::node
