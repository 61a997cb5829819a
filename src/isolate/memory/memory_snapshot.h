#pragma once
// Copy-on-write memory that an isolate and its forks share.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "isolate/memory/memory_watch.h"
#include "os/files/unique_fd.h"

namespace gw::isolate {

// The memory of an isolate as it was at one moment, in files in memory: one for each half, so that two threads can fill them, since the
// kernel lets only one at a time write to a file. Isolates map it privately in place of their own memory: each of
// its pages exists once, and the kernel copies one for an isolate that writes to it.
//
// Immutable once it has been filled; then any thread. Lives as long as one isolate uses it, which its owner sees to by a shared_ptr.
class MemorySnapshot {
 public:
  // An empty one, for so much memory.
  static Result<std::shared_ptr<MemorySnapshot>> make(std::size_t bytes);
  // Moves the content of a memory, to which no thread writes meanwhile, into this empty snapshot and maps it in its place. `below`: what
  // the memory is mapped from already, if it is. After an error the memory is lost.
  Status take_over(const MemoryWatch& watch, std::span<std::uint8_t> memory, const MemorySnapshot* below);

  using Ranges = std::vector<std::span<std::uint8_t>>;

  // Makes the beginning of `memory` be this, whatever was there; the rest stays. REQUIRES: memory.size() >= bytes().
  Status map_over(std::span<std::uint8_t> memory) const;
  // Makes parts of a memory that is mapped from this be as they were, of whole system pages.
  Status put_back(std::span<std::uint8_t> memory, const Ranges& written) const;
  // Enters it into the page table, where it was mapped and not touched yet: the kernel would take a page that is read for the first time
  // for one that was written.
  void populate(std::span<std::uint8_t> memory) const;

  std::size_t bytes() const { return bytes_; }
  // The 64 KiB pages that are not zero, ascending.
  const std::vector<std::uint32_t>& pages() const { return pages_; }

 private:
  // A part of the memory that lies in one file.
  struct Part {
    int fd;
    std::size_t offset;  // in the memory
    std::size_t bytes;
    std::size_t offset_in_file;
  };

  MemorySnapshot(std::array<os::UniqueFd, 2> halves, std::size_t first, std::size_t bytes)
      : halves_(std::move(halves)), first_(first), bytes_(bytes) {}
  std::array<Part, 2> parts(std::size_t offset, std::size_t bytes) const;
  Status take_over(std::span<std::uint8_t> memory, const Part& half) const;
  Status write(std::span<std::uint8_t> memory, const Part& part) const;
  static Status map(std::span<std::uint8_t> memory, const Part& part);
  bool fill(std::span<std::uint8_t> memory, std::span<std::uint8_t> range) const;

  std::array<os::UniqueFd, 2> halves_;
  std::size_t first_;  // bytes in the first one, whole pages
  std::size_t bytes_;
  std::vector<std::uint32_t> pages_;
};

}  // namespace gw::isolate
