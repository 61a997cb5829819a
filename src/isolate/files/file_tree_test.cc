#include "isolate/files/file_tree.h"

#include <gtest/gtest.h>

#include <array>

#include "isolate/files/file_tree_builder.h"
#include "isolate/files/file_tree_codec.h"
#include "isolate/files/path_walk.h"

namespace gw::isolate {
namespace {

constexpr Inode kRoot = FileTree::kRoot;

class FileTreeTest : public ::testing::Test {
 protected:
  Inode dir(Inode parent, std::string_view name) { return *tree.make(parent, name, Directory{}); }
  Inode file(Inode parent, std::string_view name) { return *tree.make(parent, name, FileContent{}); }
  void link(Inode parent, std::string_view name, std::string target) { EXPECT_TRUE(tree.make(parent, name, Symlink{std::move(target)})); }
  // The node, or 0 and the error.
  std::pair<Inode, Errno> at(std::string_view path, LastLink last = LastLink::follow, Inode start = kRoot) {
    auto resolved = walk(tree, start, path, last);
    return resolved ? std::pair(resolved->node, Errno::success) : std::pair(Inode{0}, resolved.error());
  }

  FileTree tree;
};

TEST_F(FileTreeTest, WalksAndNeverLeaves) {
  Inode a = dir(kRoot, "a"), b = dir(a, "b"), f = file(b, "f");
  link(a, "up", "../../../../a/b");
  link(a, "abs", "/a/b/f");
  link(b, "self", "self");
  link(b, "to_dir", "../b/");
  EXPECT_EQ(at("a/b/f").first, f);
  EXPECT_EQ(at("/a//./b/../b/f").first, f);
  EXPECT_EQ(at("../../../a/b/f").first, f);
  EXPECT_EQ(at("../../..").first, kRoot);
  EXPECT_EQ(at("/").first, kRoot);
  EXPECT_EQ(at("a/up/f").first, f);
  EXPECT_EQ(at("a/abs").first, f);
  EXPECT_NE(at("a/abs", LastLink::keep).first, f);
  EXPECT_EQ(at("a/b/to_dir").first, b);
  EXPECT_EQ(at("a/b/to_dir/", LastLink::keep).first, b);
  EXPECT_EQ(at("a/b/to_dir/", LastLink::never).second, Errno::notdir);
  EXPECT_EQ(at("a/b/self").second, Errno::loop);
  EXPECT_EQ(at("a/b/f/").second, Errno::notdir);
  EXPECT_EQ(at("a/b/f/x").second, Errno::notdir);
  EXPECT_EQ(at("a/b/f/..").second, Errno::notdir);
  EXPECT_EQ(at("a/none/x").second, Errno::noent);
  EXPECT_EQ(at("").second, Errno::noent);
  EXPECT_EQ(at(std::string(300, 'x')).second, Errno::nametoolong);
  EXPECT_EQ(at(std::string(5000, '/')).second, Errno::nametoolong);
  EXPECT_EQ(at(std::string_view("a\0b", 3)).second, Errno::inval);
  auto missing = walk(tree, a, "new/", LastLink::keep);
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->directory, a);
  EXPECT_EQ(missing->name, "new");
  EXPECT_TRUE(missing->wants_directory);
}

TEST_F(FileTreeTest, StaysInTheDirectoryAPathStartsFrom) {
  Inode a = dir(kRoot, "a"), b = dir(a, "b"), f = file(b, "f");
  file(kRoot, "outside");
  link(a, "out", "../outside");
  link(a, "abs", "/a/b/f");
  link(b, "back", "../b/f");
  EXPECT_EQ(at("b/../b/f", LastLink::follow, a).first, f);
  EXPECT_EQ(at("b/back", LastLink::follow, a).first, f);
  for (const std::string_view path : {"..", "../a/b/f", "b/../../a", "out", "abs", "/a/b/f", "/", "abs/"})
    EXPECT_EQ(at(path, LastLink::follow, a).second, Errno::perm) << path;
  EXPECT_EQ(at("back", LastLink::follow, b).second, Errno::perm);
  EXPECT_EQ(at("abs", LastLink::keep, a).second, Errno::success) << "the link itself is inside";
}

TEST_F(FileTreeTest, MovesTimesToThePresentWhenItLearnsTheTime) {
  constexpr std::uint64_t kToday = 1'700'000'000'000'000'000;
  Inode early = file(kRoot, "early"), late = file(kRoot, "late");
  EXPECT_FALSE(tree.knows_time());
  tree.on_wall_clock(kToday);
  EXPECT_TRUE(tree.knows_time());
  EXPECT_LT(tree.node(early).times.modified, tree.node(late).times.modified);
  EXPECT_LE(tree.node(late).times.modified, kToday);
  EXPECT_GT(tree.node(early).times.modified, kToday - 1000);
  ASSERT_EQ(tree.set_times(early, 7, 8), Errno::success);
  tree.on_wall_clock(kToday + 1'000'000);
  EXPECT_EQ(tree.node(early).times.modified, 8u) << "moved once only";
}

TEST_F(FileTreeTest, FollowsAtMostFortyLinks) {
  file(kRoot, "end");
  for (int i = 0; i < 41; i++) link(kRoot, fmt::format("l{}", i), i == 0 ? "end" : fmt::format("l{}", i - 1));
  EXPECT_EQ(at("l39").second, Errno::success);
  EXPECT_EQ(at("l40").second, Errno::loop);
}

TEST_F(FileTreeTest, KeepsAFileThatIsOpenUntilItIsClosed) {
  Inode f = file(kRoot, "f");
  tree.open(f);
  ASSERT_EQ(tree.write(f, 0, as_bytes("x")), Errno::success);
  EXPECT_EQ(tree.unlink(kRoot, "f"), Errno::success);
  EXPECT_EQ(at("f").first, 0u);
  EXPECT_EQ(tree.node(f).size(), 1u);
  EXPECT_EQ(tree.pages(), 1u);
  tree.close(f);
  EXPECT_EQ(tree.find(f), nullptr);
  EXPECT_EQ(tree.pages(), 0u);
}

TEST_F(FileTreeTest, RemovedDirectoriesLeadNowhere) {
  Inode a = dir(kRoot, "a");
  tree.open(a);
  EXPECT_EQ(tree.remove_directory(kRoot, "a"), Errno::success);
  EXPECT_EQ(at("..", LastLink::follow, a).second, Errno::noent);
  EXPECT_EQ(at("x", LastLink::follow, a).second, Errno::noent);
}

TEST_F(FileTreeTest, RenamesAsPosixDoes) {
  Inode a = dir(kRoot, "a"), b = dir(a, "b"), f = file(kRoot, "f"), g = file(b, "g");
  EXPECT_EQ(tree.rename(kRoot, "none", kRoot, "x"), Errno::noent);
  EXPECT_EQ(tree.rename(kRoot, "a", b, "inside"), Errno::inval);
  EXPECT_EQ(tree.rename(kRoot, "a", a, "inside"), Errno::inval);
  EXPECT_EQ(tree.rename(kRoot, "f", kRoot, "a"), Errno::isdir);
  EXPECT_EQ(tree.rename(kRoot, "a", kRoot, "f"), Errno::notdir);
  EXPECT_EQ(tree.rename(a, "b", kRoot, "a"), Errno::notempty);
  EXPECT_EQ(tree.rename(kRoot, "f", b, "g"), Errno::success);
  EXPECT_EQ(at("a/b/g").first, f);
  EXPECT_EQ(tree.find(g), nullptr);
  dir(kRoot, "empty");
  EXPECT_EQ(tree.rename(a, "b", kRoot, "empty"), Errno::success);
  EXPECT_EQ(at("empty/..").first, kRoot);
  EXPECT_EQ(at("empty/g").first, f);
  EXPECT_EQ(tree.link(f, kRoot, "other"), Errno::success);
  EXPECT_EQ(tree.node(f).names, 2u);
  EXPECT_EQ(tree.rename(kRoot, "other", b, "g"), Errno::success);  // the same file: nothing happens
  EXPECT_EQ(at("other").first, f);
}

TEST_F(FileTreeTest, LetsTimeGoOnByItself) {
  Inode f = file(kRoot, "f");
  auto made = tree.node(f).times;
  ASSERT_EQ(tree.write(f, 0, as_bytes("x")), Errno::success);
  EXPECT_GT(tree.node(f).times.modified, made.modified);
  EXPECT_EQ(tree.node(f).times.accessed, made.accessed);
  tree.on_wall_clock(1'000'000);
  ASSERT_EQ(tree.write(f, 0, as_bytes("y")), Errno::success);
  EXPECT_EQ(tree.node(f).times.modified, 1'000'001u);
}

TEST_F(FileTreeTest, HasLimits) {
  tree.limit_pages(2);
  Inode f = file(kRoot, "f"), g = file(kRoot, "g");
  EXPECT_EQ(tree.write(f, 0, as_bytes("x")), Errno::success);
  EXPECT_EQ(tree.resize(g, 2 * wire::kPageBytes), Errno::nospc);
  EXPECT_EQ(tree.resize(g, wire::kPageBytes), Errno::success);
  EXPECT_EQ(tree.write(f, wire::kPageBytes - 1, as_bytes("xy")), Errno::nospc);
  EXPECT_EQ(tree.node(f).size(), 1u);
  EXPECT_EQ(tree.unlink(kRoot, "g"), Errno::success);
  EXPECT_EQ(tree.write(f, wire::kPageBytes - 1, as_bytes("xy")), Errno::success);
  EXPECT_EQ(tree.write(f, INT64_MAX, as_bytes("xy")), Errno::fbig);
  Inode last = f;
  for (int i = 0; i < 70'000; i++) {
    auto made = tree.make(kRoot, std::to_string(i), FileContent{});
    if (!made) {
      EXPECT_EQ(made.error(), Errno::nospc);
      break;
    }
    last = *made;
  }
  EXPECT_LE(last, FileTree::kMaxNodes + 2);
  EXPECT_EQ(tree.link(f, kRoot, "the last name"), Errno::success);  // the root is a node without one
  EXPECT_EQ(tree.link(f, kRoot, "one more"), Errno::nospc);
}

// --- what a guest starts with

Result<FileTree> build(std::vector<InputEntry> inputs, std::vector<std::string> outputs = {}) {
  FileTreeBuilder builder;
  GW_TRY_VOID(builder.add_inputs(inputs));
  GW_TRY_VOID(builder.add_outputs(outputs));
  return builder.take();
}

InputEntry input_file(std::string path, std::uint64_t size = 5) {
  return {.path = std::move(path), .size = size, .mtime_ns = 77, .chunks = std::vector<Hash256>((size + kChunkBytes - 1) / kChunkBytes)};
}

TEST(FileTreeBuilder, PutsInputsAndOutputsInPlace) {
  auto tree = build({input_file("data/set/x"), {.path = "data/set", .type = NodeType::directory, .mtime_ns = 99}, input_file("top")},
                    {"out/deep/file", "results/"});
  ASSERT_TRUE(tree) << tree.error().detail;
  auto node_at = [&](std::string_view path) { return walk(*tree, kRoot, path, LastLink::keep)->node; };
  EXPECT_TRUE(tree->node(node_at("data/set/x")).read_only());
  EXPECT_TRUE(tree->node(node_at("data/set")).read_only());
  EXPECT_FALSE(tree->node(node_at("data")).read_only());
  EXPECT_FALSE(tree->node(node_at("out/deep")).read_only());
  EXPECT_EQ(node_at("out/deep/file"), 0u);
  EXPECT_NE(tree->directory(node_at("results")), nullptr);
  EXPECT_EQ(tree->node(node_at("top")).times.modified, 77u);

  Inode set = node_at("data/set"), top = node_at("top");
  EXPECT_EQ(tree->make(set, "new", FileContent{}).error(), Errno::rofs);
  EXPECT_EQ(tree->unlink(set, "x"), Errno::rofs);
  EXPECT_EQ(tree->unlink(kRoot, "top"), Errno::rofs);
  EXPECT_EQ(tree->rename(kRoot, "top", kRoot, "other"), Errno::rofs);
  EXPECT_EQ(tree->link(top, kRoot, "other"), Errno::xdev);
  EXPECT_EQ(tree->write(top, 0, as_bytes("x")), Errno::rofs);
  EXPECT_EQ(tree->resize(top, 0), Errno::rofs);
  EXPECT_EQ(tree->rename(kRoot, "data", kRoot, "elsewhere"), Errno::success);  // the folder above an input is the guest's
  Inode mine = *tree->make(kRoot, "mine", FileContent{});
  EXPECT_GT(tree->node(mine).times.modified, 99u);
  EXPECT_EQ(tree->rename(kRoot, "mine", kRoot, "top"), Errno::rofs);
}

TEST(FileTreeBuilder, RefusesWhatCannotBe) {
  for (const char* path : {"", "/abs", "a//b", "a/", "./a", "../a", "a/..", "a/./b"}) EXPECT_FALSE(build({input_file(path)})) << path;
  EXPECT_FALSE(build({input_file(std::string(300, 'x'))}));
  EXPECT_FALSE(build({input_file("a"), input_file("a")}));
  EXPECT_FALSE(build({input_file("a"), input_file("a/b")}));
  InputEntry lies = input_file("a", 3 << 20);
  lies.chunks.pop_back();
  EXPECT_FALSE(build({lies}));
  EXPECT_FALSE(build({{.path = "l", .type = NodeType::symlink}}));
  EXPECT_FALSE(build({input_file("a")}, {"a"}));
  EXPECT_FALSE(build({{.path = "d", .type = NodeType::directory}}, {"d/out"}));
  EXPECT_FALSE(build({}, {"../x"}));
}

// Each task of an array begins without the time and may learn it.
TEST(FileTree, LearnsTheTimeAgainAfterItWasPutBack) {
  constexpr std::uint64_t kToday = 1'700'000'000'000'000'000;
  FileTreeBuilder builder;
  ASSERT_TRUE(builder.add_inputs(std::vector<InputEntry>{{.path = "in/data", .size = 0, .mtime_ns = 7, .chunks = {}, .target = ""}}));
  FileTree tree = builder.take();
  const Inode kept = *tree.make(FileTree::kRoot, "kept", FileContent{}), gone = *tree.make(FileTree::kRoot, "gone", FileContent{});
  const Inode input = tree.lookup(tree.lookup(FileTree::kRoot, "in"), "data");
  const FileTree before = tree;
  tree.follow_changes();
  for (int i = 0; i < 3; i++) {
    ASSERT_EQ(tree.unlink(FileTree::kRoot, "gone"), Errno::success);
    const Inode made = *tree.make(FileTree::kRoot, "made", FileContent{});
    tree.on_wall_clock(kToday);
    for (const Inode inode : {kept, made, FileTree::kRoot}) EXPECT_GT(tree.node(inode).times.modified, kToday - 1000);
    EXPECT_EQ(tree.node(input).times.modified, 7u) << "an input has a time of its own";
    tree.put_back(before);
    EXPECT_FALSE(tree.knows_time());
    for (const Inode inode : {kept, gone, FileTree::kRoot, input})
      EXPECT_EQ(tree.node(inode).times.modified, before.node(inode).times.modified);
  }
}

TEST(FileTree, IsPutBackByWhatHasChanged) {
  FileTreeBuilder builder;
  ASSERT_TRUE(builder.add_inputs(std::vector<InputEntry>{{.path = "in/data", .size = 0, .mtime_ns = 7, .chunks = {}, .target = ""}}));
  FileTree tree = builder.take();
  const auto encoded = [](const FileTree& which) {
    ByteWriter writer;
    FileTreeCodec::encode(which, writer);
    return writer.take();
  };
  const Inode kept = *tree.make(FileTree::kRoot, "kept", FileContent{});
  ASSERT_EQ(tree.write(kept, 0, as_bytes("before")), Errno::success);
  const FileTree before = tree;
  tree.follow_changes();
  for (int i = 0; i < 3; i++) {
    ASSERT_EQ(tree.write(kept, 0, as_bytes("after!")), Errno::success);
    const Inode directory = *tree.make(FileTree::kRoot, "directory", Directory{});
    ASSERT_TRUE(tree.make(directory, "file", FileContent{}));
    ASSERT_EQ(tree.rename(FileTree::kRoot, "kept", directory, "moved"), Errno::success);
    tree.open(tree.lookup(FileTree::kRoot, "in"));
    tree.on_wall_clock(1'000'000);
    EXPECT_NE(encoded(tree), encoded(before));
    tree.put_back(before);
    EXPECT_EQ(encoded(tree), encoded(before));
    std::array<std::uint8_t, 6> bytes;
    EXPECT_EQ(std::get<FileContent>(tree.node(kept).content).read(0, bytes), 6u);
    EXPECT_EQ(as_text(bytes), "before");
  }
}

}  // namespace
}  // namespace gw::isolate
