#include "isolate/files/file_pages.h"

#include <gtest/gtest.h>

#include "isolate/files/file_tree_codec.h"
#include "isolate/memory/memory_history.h"

namespace gw::isolate {
namespace {

using wire::kFirstFilePage;
using wire::kPageBytes;
using wire::Storage;

wire::Image image_of(FileTree& files, const std::unordered_set<Hash256>& saved = {}) {
  ByteWriter writer;
  FileTreeCodec::encode(files, writer);
  wire::ImageContent content{
      .file_pages = static_cast<std::uint32_t>(files.pages()), .wasi_state = writer.take(), .pages = hash_file_pages(files, saved)};
  auto image = wire::Image::encode(content);
  EXPECT_TRUE(image) << image.error().detail;
  return *image;
}

Result<FileTree> restored(const wire::Image& image, std::span<const wire::Image> ancestors = {}) {
  ByteReader reader(image.content().wasi_state);
  GW_TRY(FileTree files, FileTreeCodec::decode(reader));
  std::vector<wire::BlobPack> packs;
  for (const wire::Image& ancestor : ancestors) packs.push_back(ancestor.pack());
  GW_TRY(const std::vector<wire::ImagePage> pages, list_pages(image, packs));
  GW_TRY_VOID(load_file_pages(image, pages, packs, files));
  return files;
}

std::string text(const FileTree& files, Inode inode, std::uint64_t offset, std::size_t size) {
  Bytes bytes(size);
  bytes.resize(std::get<FileContent>(files.node(inode).content).read(offset, bytes));
  return std::string(as_text(bytes));
}

class FilePagesTest : public ::testing::Test {
 protected:
  FilePagesTest() {
    EXPECT_EQ(files.write(first, 3 * kPageBytes, as_bytes("first")), Errno::success);
    EXPECT_EQ(files.write(second, 0, as_bytes("second")), Errno::success);
  }

  FileTree files;
  Inode first = *files.make(FileTree::kRoot, "first", FileContent{});
  Inode second = *files.make(FileTree::kRoot, "second", FileContent{});
};

TEST_F(FilePagesTest, GoIntoAnImageAndBackWithoutZeros) {
  wire::Image image = image_of(files);
  const auto& pages = image.content().pages;
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_EQ(pages[0].index, kFirstFilePage + 3);
  EXPECT_EQ(pages[1].index, kFirstFilePage + 4);
  auto again = restored(image);
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(text(*again, first, 3 * kPageBytes - 1, 10), std::string("\0first", 6));
  EXPECT_EQ(text(*again, second, 0, 10), "second");
  EXPECT_EQ(image_of(*again).id(), image.id());
}

TEST_F(FilePagesTest, WrittenZerosAreTheSameAsNone) {
  wire::Image before = image_of(files);
  EXPECT_EQ(files.write(first, kPageBytes, as_bytes(std::string_view("\0\0", 2))), Errno::success);
  wire::Image after = image_of(files);
  ASSERT_EQ(after.content().pages.size(), before.content().pages.size());
  for (std::size_t i = 0; i < before.content().pages.size(); i++) EXPECT_EQ(after.content().pages[i].hash, before.content().pages[i].hash);
}

TEST_F(FilePagesTest, LeaveToTheLastImageWhatItHas) {
  std::vector<wire::Image> images = {image_of(files)};
  std::unordered_set<Hash256> saved;
  for (const auto& page : images[0].content().pages) saved.insert(page.hash);
  EXPECT_EQ(files.write(second, 0, as_bytes("SECOND")), Errno::success);
  Inode copy = *files.make(FileTree::kRoot, "copy", FileContent{});
  EXPECT_EQ(files.write(copy, 0, as_bytes("first")), Errno::success);  // the same page as in the first file
  wire::Image changes = image_of(files, saved);
  ASSERT_EQ(changes.content().pages.size(), 3u);
  EXPECT_EQ(changes.content().pages[0].storage, Storage::elsewhere);
  EXPECT_EQ(changes.content().pages[1].storage, Storage::raw);
  EXPECT_EQ(changes.content().pages[2].storage, Storage::elsewhere);
  EXPECT_EQ(restored(changes).error().kind, Kind::not_found);
  auto again = restored(changes, images);
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(text(*again, second, 0, 10), "SECOND");
  EXPECT_EQ(text(*again, copy, 0, 10), "first");
}

TEST_F(FilePagesTest, RefuseAnImageOfOtherFiles) {
  wire::Image image = image_of(files);
  wire::ImageContent lie = image.content();
  lie.file_pages++;
  EXPECT_EQ(restored(*wire::Image::encode(lie)).error().kind, Kind::corrupt);
}

}  // namespace
}  // namespace gw::isolate
