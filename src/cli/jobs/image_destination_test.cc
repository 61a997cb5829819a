#include "cli/jobs/image_destination.h"

#include <gtest/gtest.h>

#include "os/files/file.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

class ImageDestinationTest : public testing::Test {
 protected:
  ImageDestinationTest() : before_(fs::current_path()) { fs::current_path(dir_.path()); }
  ~ImageDestinationTest() override { fs::current_path(before_); }
  static void write(const fs::path& file, std::string_view text) { ASSERT_TRUE(os::write_file_atomic(file, as_bytes(text))); }

  os::TempDir dir_ = os::TempDir::make().value();
  fs::path before_;
};

TEST_F(ImageDestinationTest, UnnamedImagesNeverReplaceAFile) {
  write("nbody.gwi", "mine");
  for (const char* expected : {"nbody-2.gwi", "nbody-3.gwi"}) {
    const ImageDestination destination = ImageDestination::make("", "examples/nbody.c").value();
    write(destination.temporary(), "image");
    EXPECT_EQ(destination.rename_temporary().value(), expected);
    EXPECT_FALSE(fs::exists(destination.temporary()));
  }
  EXPECT_EQ(as_text(os::read_file("nbody.gwi", 100).value()), "mine");
}

TEST_F(ImageDestinationTest, ContinuedImagesKeepTheirName) {
  write("nbody.gwi", "");
  EXPECT_EQ(ImageDestination::make("", "nbody-7.gwi").value().for_job_file().value(), "nbody-2.gwi");
  EXPECT_EQ(ImageDestination::make("", "step-7.c").value().for_job_file().value(), "step-7.gwi");
}

TEST_F(ImageDestinationTest, NamedImagesAreWrittenWhereTheyShall) {
  const ImageDestination destination = ImageDestination::make("x.img", "nbody.c").value();
  EXPECT_EQ(destination.temporary(), "x.img");
  EXPECT_EQ(destination.rename_temporary().value(), "x.img");
  EXPECT_EQ(destination.for_job_file().value(), "x.img");
  write("x.img", "");
  EXPECT_EQ(destination.for_job_file().error().kind, Kind::invalid);
}

TEST_F(ImageDestinationTest, SaysBeforehandWhenTheFolderIsWrong) {
  EXPECT_EQ(ImageDestination::make("no/such/folder.img", "x.c").error().kind, Kind::not_found);
  EXPECT_EQ(ImageDestination::make(dir_.path().string(), "x.c").error().kind, Kind::invalid);
}

}  // namespace
}  // namespace gw::cli
