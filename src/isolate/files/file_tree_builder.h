#pragma once
// The file tree a guest starts with.

#include <span>
#include <string>
#include <vector>

#include "isolate/files/descriptors.h"
#include "isolate/files/file_tree.h"

namespace gw::isolate {

// Checks a manifest and the paths of outputs, and makes the tree they ask for: inputs read-only at their places, the directories above
// inputs and outputs. Kind::invalid with a sentence that names the path otherwise.
//
// An output that ends in a slash is a directory, which is made too. The latest time of the inputs becomes the time of the tree, so that
// what the guest makes is younger. After a failure the tree may have a part of what was added.
class FileTreeBuilder {
 public:
  FileTreeBuilder() = default;
  // Adds to this tree.
  explicit FileTreeBuilder(FileTree tree) : tree_(std::move(tree)) {}

  Status add_inputs(std::span<const InputEntry> inputs);
  Status add_outputs(std::span<const std::string> outputs);
  // Opens a file without a name as descriptor 0, instead of the stream that is there.
  Status add_standard_input(const InputEntry& file, DescriptorTable& descriptors);

  FileTree take() { return std::move(tree_); }

 private:
  Status add(const InputEntry& entry);
  Result<Inode> parent_of(std::string_view path);

  FileTree tree_;
  std::size_t chunks_ = 0;
};

// The names of a relative path, if it is one that a manifest may have.
Result<std::vector<std::string_view>> split_manifest_path(std::string_view path);

}  // namespace gw::isolate
