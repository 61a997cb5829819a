#include "cli/jobs/image_place.h"

#include <gtest/gtest.h>

#include "os/file.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

class ImagePlaceTest : public testing::Test {
 protected:
  ImagePlaceTest() : before_(fs::current_path()) { fs::current_path(dir_.path()); }
  ~ImagePlaceTest() override { fs::current_path(before_); }
  static void write(const fs::path& file, std::string_view text) { ASSERT_TRUE(os::write_file_atomic(file, as_bytes(text))); }

  os::TempDir dir_ = os::TempDir::make().value();
  fs::path before_;
};

TEST_F(ImagePlaceTest, UnnamedImagesNeverReplaceAFile) {
  write("nbody.gwi", "mine");
  for (const char* expected : {"nbody-2.gwi", "nbody-3.gwi"}) {
    const ImagePlace place = ImagePlace::make("", "examples/nbody.c").value();
    write(place.temporary(), "image");
    EXPECT_EQ(place.settle().value(), expected);
    EXPECT_FALSE(fs::exists(place.temporary()));
  }
  EXPECT_EQ(as_text(os::read_file("nbody.gwi", 100).value()), "mine");
}

TEST_F(ImagePlaceTest, ContinuedImagesKeepTheirName) {
  write("nbody.gwi", "");
  EXPECT_EQ(ImagePlace::make("", "nbody-7.gwi").value().for_journal().value(), "nbody-2.gwi");
  EXPECT_EQ(ImagePlace::make("", "step-7.c").value().for_journal().value(), "step-7.gwi");
}

TEST_F(ImagePlaceTest, NamedImagesAreWrittenWhereTheyShall) {
  const ImagePlace place = ImagePlace::make("x.img", "nbody.c").value();
  EXPECT_EQ(place.temporary(), "x.img");
  EXPECT_EQ(place.settle().value(), "x.img");
  EXPECT_EQ(place.for_journal().value(), "x.img");
  write("x.img", "");
  EXPECT_EQ(place.for_journal().error().kind, Kind::invalid);
}

TEST_F(ImagePlaceTest, SaysBeforehandWhenTheFolderIsWrong) {
  EXPECT_EQ(ImagePlace::make("no/such/folder.img", "x.c").error().kind, Kind::not_found);
  EXPECT_EQ(ImagePlace::make(dir_.path().string(), "x.c").error().kind, Kind::invalid);
}

}  // namespace
}  // namespace gw::cli
