#pragma once
// From a path to a place in a file tree.

#include <string>
#include <string_view>

#include "isolate/files/file_tree.h"

namespace gw::isolate {

// A symbolic link at the end of a path is followed, or it is what the path means; `never` even where a slash after it asks for a directory.
enum class LastLink : std::uint8_t { follow, keep, never };

struct ResolvedPath {
  Inode directory = 0;           // in which the last name stands
  std::string name;              // empty: the path ends in "/", "." or "..", so it means `node` without a name
  Inode node = 0;                // 0: there is nothing yet
  bool wants_directory = false;  // a slash follows
};

// Follows `path` from `start`, whose directory it must not leave, as WASI asks: an absolute path or link, or a ".." that leads out of it,
// is Errno::perm. From the root a path cannot lead out: there ".." of the root is the root, and absolute links are followed, as POSIX does.
// Whatever `start` is, names are looked up in directories only.
OrErrno<ResolvedPath> walk(const FileTree& tree, Inode start, std::string_view path, LastLink last_link);

}  // namespace gw::isolate
