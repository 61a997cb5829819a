#pragma once
// A file tree as bytes: the part of docs/image-format.md about files, without the content of their pages.

#include "base/bytes.h"
#include "isolate/files/file_tree.h"

namespace gw::isolate {

class FileTreeCodec {
 public:
  static void encode(const FileTree& tree, ByteWriter& writer);

  // Everything the invariants of a tree ask for is checked, but that nodes without a name are open: that is for check_reachable(), after
  // the descriptors have opened theirs. Files have their sizes, and no content yet.
  static Result<FileTree> decode(ByteReader& reader);
  static Status check_reachable(const FileTree& tree);

 private:
  static Status read_nodes(ByteReader& reader, FileTree& tree);
  static Status read_content(ByteReader& reader, NodeType type, Node& node, FileTree& tree);
  static Status read_entries(ByteReader& reader, Directory& directory, FileTree& tree);
  static Status count_names(FileTree& tree);
  static Status check_directories(const FileTree& tree);
};

}  // namespace gw::isolate
