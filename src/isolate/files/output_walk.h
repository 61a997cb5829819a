#pragma once
// The walk over the files under a guest's declared outputs, piece by piece.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "isolate/files/file_tree.h"

namespace gw::isolate {

// A part of an output, as OutputWalk gives it.
struct OutputPiece {
  static constexpr std::size_t kMaxBytes = 1u << 20;
  std::string_view path;
  NodeType type = NodeType::file;
  std::uint64_t offset = 0;  // in a file
  ByteView bytes;            // of a file; the target of a link
  bool last = true;          // nothing more of this path comes
};

// Gives what is at the declared paths, in ascending order of paths, a directory before what is in it, a file in pieces; paths where there
// is nothing are left out. The caller may stop after any piece and continue later: the walk keeps its position.
//
// The tree outlives the walk and does not change meanwhile. Memory: the names of one directory per level.
class OutputWalk {
 public:
  OutputWalk(const FileTree& files, std::vector<std::string> outputs);

  // None: that was all. The views are good until the next call. Kind::guest_fault for a path that is too long.
  Result<std::optional<OutputPiece>> next();

 private:
  struct Pending {
    std::string path;
    Inode node;
  };

  Status begin_output(const std::string& path);
  void push_entries(const std::string& path, const Directory& directory);
  OutputPiece next_of_file(const FileContent& content);

  const FileTree& files_;
  std::set<std::string> outputs_;  // not begun yet
  std::vector<Pending> pending_;   // the next one last
  Pending current_;                // that the last piece was of
  bool in_file_ = false;           // current_ is a file, and offset_ says how much of it has been given
  std::uint64_t offset_ = 0;
  Bytes buffer_;
};

}  // namespace gw::isolate
