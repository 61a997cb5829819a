#pragma once
// Open descriptors of a guest.

#include <cstdint>
#include <map>

#include "isolate/files/file_tree.h"

namespace gw::isolate {

// Bits of a descriptor's rights, as WASI numbers them.
namespace right {
inline constexpr std::uint64_t kDatasync = 1u << 0, kRead = 1u << 1, kSeek = 1u << 2, kSetFlags = 1u << 3, kSync = 1u << 4, kTell = 1u << 5,
                               kWrite = 1u << 6, kAdvise = 1u << 7, kAllocate = 1u << 8, kCreateDirectory = 1u << 9, kCreateFile = 1u << 10,
                               kLinkSource = 1u << 11, kLinkTarget = 1u << 12, kOpen = 1u << 13, kReaddir = 1u << 14, kReadlink = 1u << 15,
                               kRenameSource = 1u << 16, kRenameTarget = 1u << 17, kPathFilestatGet = 1u << 18, kPathSetSize = 1u << 19,
                               kPathSetTimes = 1u << 20, kFilestatGet = 1u << 21, kSetSize = 1u << 22, kSetTimes = 1u << 23,
                               kSymlink = 1u << 24, kRemoveDirectory = 1u << 25, kUnlink = 1u << 26, kPoll = 1u << 27;
inline constexpr std::uint64_t kAll = (1u << 30) - 1;
inline constexpr std::uint64_t kOfDirectories = kAll & ~(kSeek | kTell | kWrite | kAdvise | kAllocate | kSetSize);
}  // namespace right

namespace fd_flag {
inline constexpr std::uint16_t kAppend = 1u << 0, kAll = (1u << 5) - 1;  // the others (sync, no waiting) change nothing in memory
}

// A descriptor is a standard stream or a node of the file tree.
struct Descriptor {
  enum class Kind : std::uint8_t { input = 0, output = 1, errors = 2, node = 3 };
  Kind kind = Kind::node;
  bool preopened = false;
  std::uint16_t flags = 0;
  std::uint64_t rights = 0, inheriting = 0;
  Inode node = 0;            // of a node
  std::uint64_t offset = 0;  // of a file

  bool allows(std::uint64_t wanted) const { return (rights & wanted) == wanted; }
};

// By number, at most kMax. Numbers are the lowest that are free, as in POSIX.
class DescriptorTable {
 public:
  static constexpr std::uint32_t kMax = 1024;

  // The standard streams, and the root as the descriptor 3. Opens it in `tree`.
  static DescriptorTable standard(FileTree& tree);

  Descriptor* find(std::uint32_t number);
  OrErrno<std::uint32_t> add(const Descriptor& descriptor);
  // REQUIRES: the number is free.
  void put(std::uint32_t number, const Descriptor& descriptor) { table_.emplace(number, descriptor); }
  void remove(std::uint32_t number) { table_.erase(number); }

  const std::map<std::uint32_t, Descriptor>& all() const { return table_; }

 private:
  std::map<std::uint32_t, Descriptor> table_;
};

}  // namespace gw::isolate
