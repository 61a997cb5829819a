#include "cli/jobs/named_files.h"

#include <gmock/gmock.h>

#include <fstream>

#include "os/files/file.h"

namespace gw::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class NamedFilesTest : public testing::Test {
 protected:
  NamedFilesTest() {
    std::ofstream(mine_) << "mine";
    spec_.add_inputs()->set_host("/home/stranger/data");
    spec_.mutable_inputs(0)->set_guest("in");
    spec_.add_outputs()->set_host("/home/stranger/result");
    spec_.mutable_outputs(0)->set_guest("out");
    spec_.set_input_file("/home/stranger/stdin");
  }

  os::TempDir folder_ = os::TempDir::make().value();
  const std::filesystem::path mine_ = folder_.path() / "mine";
  wire::pb::JobSpec spec_;
};

TEST_F(NamedFilesTest, NoPathOfTheImageIsUsedUnasked) {
  const Status used = use_named_files({}, "mailed.gwi", spec_);
  ASSERT_FALSE(used);
  EXPECT_EQ(used.error().kind, Kind::invalid);
  for (const char* path : {"mailed.gwi", "--input /home/stranger/data:/in", "--output /home/stranger/result:/out",
                           "--stdin /home/stranger/stdin", "--allow-files"})
    EXPECT_THAT(used.error().detail, HasSubstr(path));
}

TEST_F(NamedFilesTest, AllOfThemCanBeAllowed) {
  EXPECT_TRUE(use_named_files({.allow_files = true}, "mine.gwi", spec_));
  EXPECT_EQ(spec_.inputs(0).host(), "/home/stranger/data");
}

TEST_F(NamedFilesTest, NamedFilesReplaceThoseOfTheImage) {
  const NamedFiles some{.inputs = {mine_.string() + ":/in"}};
  const Status used = use_named_files(some, "mailed.gwi", spec_);
  ASSERT_FALSE(used);
  EXPECT_THAT(used.error().detail, Not(HasSubstr("--input")));
  const NamedFiles all{.inputs = some.inputs, .outputs = {(folder_.path() / "new").string() + ":/out"}, .stdin_file = mine_.string()};
  ASSERT_TRUE(use_named_files(all, "mailed.gwi", spec_));
  EXPECT_EQ(spec_.inputs(0).host(), mine_.string());
  EXPECT_EQ(spec_.outputs(0).host(), (folder_.path() / "new").string());
  EXPECT_EQ(spec_.input_file(), mine_.string());
}

TEST_F(NamedFilesTest, AFileThatTheProgramDoesNotKnowIsRefused) {
  const Status used = use_named_files({.inputs = {mine_.string() + ":/other"}, .allow_files = true}, "mine.gwi", spec_);
  ASSERT_FALSE(used);
  EXPECT_THAT(used.error().detail, HasSubstr("/other"));
}

TEST_F(NamedFilesTest, AFileWithoutAPlaceHasToBeNamed) {
  spec_.mutable_inputs(0)->clear_host();
  const Status used = use_named_files({.allow_files = true}, "exported.gwi", spec_);
  ASSERT_FALSE(used);
  EXPECT_THAT(used.error().detail, HasSubstr("--input HOST:/in"));
}

}  // namespace
}  // namespace gw::cli
