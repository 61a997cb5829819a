#pragma once
// The filestat of a node.

#include <algorithm>
#include <cstdint>

#include "isolate/files/file_tree.h"
#include "isolate/memory/guest_memory.h"

namespace gw::isolate {

// The numbers are those of WASI.
enum class FileType : std::uint8_t { character_device = 2, directory = 3, regular_file = 4, symbolic_link = 7 };

inline FileType file_type(const Node& node) {
  switch (node.type()) {
    case NodeType::directory:
      return FileType::directory;
    case NodeType::symlink:
      return FileType::symbolic_link;
    case NodeType::file:
      break;
  }
  return FileType::regular_file;
}

inline constexpr std::uint32_t kStatBytes = 64;

inline Errno store_stream_stat(GuestMemory memory, std::uint32_t out) {
  auto stat = memory.span(out, kStatBytes);
  if (!stat) return Errno::fault;
  std::fill(stat->begin(), stat->end(), std::uint8_t{0});
  return memory.store(out + 16, FileType::character_device) ? Errno::success : Errno::fault;
}

// The device is 1: there is one tree.
inline Errno store_stat(GuestMemory memory, std::uint32_t out, Inode inode, const Node& node) {
  auto stat = memory.span(out, kStatBytes);
  if (!stat) return Errno::fault;
  std::fill(stat->begin(), stat->end(), std::uint8_t{0});
  bool stored = memory.store(out, std::uint64_t{1}) && memory.store(out + 8, inode) && memory.store(out + 16, file_type(node)) &&
                memory.store(out + 24, std::uint64_t{node.names}) && memory.store(out + 32, node.size()) &&
                memory.store(out + 40, node.times.accessed) && memory.store(out + 48, node.times.modified) &&
                memory.store(out + 56, node.times.changed);
  return stored ? Errno::success : Errno::fault;
}

}  // namespace gw::isolate
