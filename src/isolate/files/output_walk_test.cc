#include "isolate/files/output_walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gw::isolate {
namespace {

std::vector<std::string> all_of(OutputWalk& walk) {
  std::vector<std::string> list;
  for (;;) {
    auto piece = walk.next();
    EXPECT_TRUE(piece.has_value());
    if (!piece || !*piece) return list;
    list.push_back(fmt::format("{} {}+{}{}", (*piece)->path, (*piece)->offset, (*piece)->bytes.size(), (*piece)->last ? "" : " ..."));
  }
}

TEST(OutputWalk, GivesDirectoriesFirstAndFilesInPieces) {
  FileTree tree;
  const Inode out = *tree.make(FileTree::kRoot, "out", Directory{});
  const Inode large = *tree.make(out, "large", FileContent{});
  ASSERT_TRUE(tree.make(out, "empty", FileContent{}));
  ASSERT_TRUE(tree.make(FileTree::kRoot, "out.txt", FileContent{}));
  ASSERT_EQ(tree.resize(large, OutputPiece::kMaxBytes + 5), Errno::success);
  OutputWalk walk(tree, {"out/", "missing", "out/large", "out.txt"});
  const std::vector<std::string> expected{"out 0+0", "out/empty 0+0", "out/large 0+1048576 ...", "out/large 1048576+5", "out.txt 0+0"};
  EXPECT_EQ(all_of(walk), expected);
  EXPECT_FALSE(walk.next()->has_value());
}

}  // namespace
}  // namespace gw::isolate
