#include "job/tasks/file_list.h"

#include <gtest/gtest.h>

#include "wire/messages/worker_frames.h"
#include "wire/names.h"

namespace gw::job {
namespace {

using File = wire::pb::Effect::OutputFile;

File piece(const std::string& path, File::Type type, std::uint64_t offset = 0, const std::string& bytes = "") {
  File file;
  file.set_path(path);
  file.set_type(type);
  file.set_offset(offset);
  file.set_bytes(bytes);
  return file;
}

wire::pb::FromTask from(const std::string& output, const std::string& path) {
  wire::pb::FromTask from;
  from.set_task(3);
  from.set_output(output);
  from.set_path(path);
  return from;
}

TEST(FileList, PutsThePiecesOfAFileTogether) {
  wire::pb::TaskFileList list;
  const Hash256 first = sha256(as_bytes("first")), second = sha256(as_bytes("second"));
  add_to_list(piece("out", File::DIRECTORY), 0, std::nullopt, list);
  add_to_list(piece("out/a", File::FILE), wire::kInputChunkBytes, first, list);
  add_to_list(piece("out/a", File::FILE, wire::kInputChunkBytes), 5, second, list);
  add_to_list(piece("out/empty", File::FILE), 0, std::nullopt, list);
  add_to_list(piece("out/link", File::SYMLINK, 0, "a"), 1, std::nullopt, list);
  ASSERT_EQ(list.entries_size(), 4);
  EXPECT_EQ(list.entries(1).size(), wire::kInputChunkBytes + 5);
  EXPECT_EQ(list.entries(1).chunks_size(), 2);
  EXPECT_EQ(wire::hash_of(list.entries(1).chunks(1)), second);
  EXPECT_EQ(list.entries(2).chunks_size(), 0);
  EXPECT_EQ(list.entries(3).target(), "a");
  EXPECT_TRUE(wire::decode_task_files(as_bytes(list.SerializeAsString())));
}

TEST(FileList, GivesAFileOrAFolderItsNewPath) {
  wire::pb::TaskFileList list;
  for (const char* path : {"out", "out/a", "output"}) add_to_list(piece(path, File::FILE), 0, std::nullopt, list);
  const auto folder = entries_of(from("out", "in/x"), list).value();
  ASSERT_EQ(folder.size(), 2u);
  EXPECT_EQ(folder[0].path(), "in/x");
  EXPECT_EQ(folder[1].path(), "in/x/a");
  const auto none = entries_of(from("missing", "in"), list);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().detail, "task 3 has left no 'missing', which it reads");
}

}  // namespace
}  // namespace gw::job
