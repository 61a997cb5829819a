#include "node/jobs/job_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files/file.h"

namespace gw::node {
namespace {

using wire::pb::Effect;
namespace fs = std::filesystem;

class JobFiles : public testing::Test {
 protected:
  JobFiles() : folder_(os::TempDir::make().value()), root_(folder_.path()) {}

  void write(const fs::path& path, std::string_view text) {
    fs::create_directories((root_ / path).parent_path());
    GW_ASSERT(os::write_file_atomic(root_ / path, as_bytes(text), os::Durability::unflushed).has_value());
  }
  std::string read(const fs::path& path) { return std::string(as_text(os::read_file(root_ / path, 1u << 24).value())); }

  static Effect::OutputFile piece(std::string path, std::uint64_t offset, std::string bytes, bool last = true) {
    Effect::OutputFile out;
    out.set_path(std::move(path));
    out.set_offset(offset);
    out.set_bytes(std::move(bytes));
    out.set_last(last);
    return out;
  }

  os::TempDir folder_;
  fs::path root_;
};

TEST_F(JobFiles, AManifestHasEveryFileFolderAndLink) {
  write("data/b.txt", "bee");
  write("data/sub/a.txt", "");
  fs::create_symlink("b.txt", root_ / "data/link");
  auto files = InputFiles::scan({{root_ / "data", "data"}});
  ASSERT_TRUE(files.has_value()) << files.error().detail;
  std::vector<std::string> paths;
  for (const auto& entry : files->entries()) paths.push_back(entry.path());
  EXPECT_THAT(paths, testing::ElementsAre("data", "data/b.txt", "data/link", "data/sub", "data/sub/a.txt"));
  EXPECT_EQ(files->entries()[2].target(), "b.txt");
  EXPECT_EQ(files->entries()[1].size(), 3u);
  EXPECT_EQ(files->entries()[4].chunks_size(), 0);
}

TEST_F(JobFiles, ChunksAreReadByHashAndOnlyIfTheyStillMatch) {
  write("big", std::string(kChunkBytes, 'a') + "tail");
  auto files = InputFiles::scan({{root_ / "big", "big"}});
  ASSERT_TRUE(files.has_value());
  ASSERT_EQ(files->entries()[0].chunks_size(), 2);
  const Hash256 tail = sha256(as_bytes("tail"));
  EXPECT_EQ(as_text(files->read_chunk(tail).value()), "tail");
  EXPECT_EQ(files->read_chunk(sha256(as_bytes("other"))).error().kind, Kind::not_found);
  write("big", std::string(kChunkBytes, 'a') + "TAIL");
  EXPECT_EQ(files->read_chunk(tail).error().kind, Kind::corrupt);
}

TEST_F(JobFiles, RefusesWhatIsNotThereOrNotAFile) {
  EXPECT_EQ(InputFiles::scan({{root_ / "none", "none"}}).error().kind, Kind::not_found);
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(InputFiles::scan({{root_ / "pipe", "pipe"}}).error().kind, Kind::invalid);
  write("x", "1");
  EXPECT_EQ(InputFiles::scan({{root_ / "x", "x"}, {root_ / "x", "x"}}).error().kind, Kind::invalid);
}

TEST_F(JobFiles, OutputsAppearWholeWhenTheyArePlaced) {
  write("out.txt", "old");
  OutputFiles outputs({{root_ / "out.txt", "out.txt"}, {root_ / "dir", "results"}});
  ASSERT_TRUE(outputs.take(piece("out.txt", 0, "new ", false)).has_value());
  ASSERT_TRUE(outputs.take(piece("out.txt", 4, "content")).has_value());
  ASSERT_TRUE(outputs.take(piece("results/deep/file", 0, "x")).has_value());
  EXPECT_EQ(read("out.txt"), "old");
  ASSERT_TRUE(outputs.place().has_value());
  EXPECT_EQ(read("out.txt"), "new content");
  EXPECT_EQ(read("dir/deep/file"), "x");
}

TEST_F(JobFiles, NothingIsLeftOfOutputsThatWereNotPlaced) {
  {
    OutputFiles outputs({{root_ / "out", "out"}});
    ASSERT_TRUE(outputs.take(piece("out", 0, "half", false)).has_value());
    EXPECT_FALSE(outputs.place().has_value());
  }
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(JobFiles, TemporaryFilesOfAKilledCommandAreOverwritten) {
  OutputFiles killed({{root_ / "out", "out"}}, "tag");  // it is still there while the next one works, so it cleans up nothing
  ASSERT_TRUE(killed.take(piece("out", 0, "first, and longer")).has_value());
  EXPECT_TRUE(fs::exists(root_ / "out.tag"));
  OutputFiles outputs({{root_ / "out", "out"}}, "tag");
  ASSERT_TRUE(outputs.take(piece("out", 0, "second")).has_value());
  ASSERT_TRUE(outputs.place().has_value());
  EXPECT_EQ(read("out"), "second");
  EXPECT_FALSE(fs::exists(root_ / "out.tag"));
}

TEST_F(JobFiles, AGuestCannotNameWhatWasNotDeclared) {
  OutputFiles outputs({{root_ / "dir", "out"}});
  for (const char* path : {"other", "outside", "out/../../etc/passwd", "/etc/passwd", "out//x", "out/./x", "", "out/.."})
    EXPECT_FALSE(outputs.take(piece(path, 0, "x")).has_value()) << path;
  EXPECT_FALSE(outputs.take(piece("out/gap", 5, "x")).has_value());
}

TEST_F(JobFiles, AGuestCannotWriteThroughLinks) {
  fs::create_directories(root_ / "dir");
  fs::create_directories(root_ / "secret");
  fs::create_symlink(root_ / "secret", root_ / "dir/link");
  OutputFiles outputs({{root_ / "dir", "out"}});
  EXPECT_FALSE(outputs.take(piece("out/link/x", 0, "x")).has_value());
  for (const char* target : {"/etc/passwd", "../secret", "a/../../secret"}) {
    Effect::OutputFile link = piece("out/mine", 0, target);
    link.set_type(Effect::OutputFile::SYMLINK);
    EXPECT_FALSE(outputs.take(link).has_value()) << target;
  }
  EXPECT_TRUE(fs::is_empty(root_ / "secret"));
}

}  // namespace
}  // namespace gw::node
