#include "cli/settings/mount.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "os/files/file.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

TEST(ParseMount, TheProgramSeesThePathAsTyped) {
  const struct {
    const char* text;
    const char* host;
    const char* guest;
  } cases[] = {
      {"data", "data", "/data"},
      {"./data//x/", "./data//x/", "/data/x"},
      {"/srv/data", "/srv/data", "/srv/data"},
      {"../data:/data", "../data", "/data"},
      {"data:other/name", "data", "/other/name"},
      {"a:b:/c", "a:b", "/c"},
      {".:/work", ".", "/work"},
  };
  for (const auto& c : cases) {
    const auto mount = parse_mount(c.text);
    ASSERT_TRUE(mount) << c.text << ": " << mount.error().detail;
    EXPECT_EQ(mount->host, c.host) << c.text;
    EXPECT_EQ(mount->guest, c.guest) << c.text;
  }
}

TEST(Mount, IsAFolderThatIsThereOrIsWrittenAsOne) {
  const auto dir = os::TempDir::make().value();
  EXPECT_TRUE(is_folder({dir.path(), "/x"}));
  EXPECT_TRUE(is_folder({dir.path() / "new/", "/x"}));
  EXPECT_FALSE(is_folder({dir.path() / "new", "/x"}));
}

TEST(ParseMount, RefusesPathsTheProgramCannotHave) {
  const std::string long_name(256, 'n');
  const struct {
    std::string text;
    const char* expected;
  } cases[] = {
      {"../data", "../data:GUEST"},
      {"a/../b", "a/../b:GUEST"},
      {"data:/../x", "must not contain '..'"},
      {"", "names no file"},
      {":/x", "names no file"},
      {"data:", "data:GUEST"},
      {".", ".:GUEST"},
      {"/", "/:GUEST"},
      {long_name, "255 bytes"},
  };
  for (const auto& c : cases) {
    const auto mount = parse_mount(c.text);
    ASSERT_FALSE(mount) << c.text;
    EXPECT_NE(mount.error().detail.find(c.expected), std::string::npos) << mount.error().detail;
  }
}

class CheckMounts : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (dir_.path() / name).string(); }
  std::string make_file(const std::string& name) const {
    EXPECT_TRUE(os::write_file_atomic(at(name), as_bytes("x")));
    return at(name);
  }
  static std::string complaint(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    const auto mounts = check_mounts(inputs, outputs);
    return mounts ? "" : mounts.error().detail;
  }

  os::TempDir dir_ = os::TempDir::make().value();
};

TEST_F(CheckMounts, TakesWhatIsThere) {
  const std::string input = make_file("in");
  const auto mounts =
      check_mounts({input, dir_.path().string() + ":/all"}, {at("out") + ":/out", input + ":/replaced", at("new/") + ":/new"});
  ASSERT_TRUE(mounts) << mounts.error().detail;
  EXPECT_EQ(mounts->inputs.size(), 2u);
  EXPECT_EQ(mounts->outputs.size(), 3u);
}

TEST_F(CheckMounts, RefusesWhatCannotWork) {
  EXPECT_NE(complaint({at("missing")}, {}).find("there is no such file"), std::string::npos);
  EXPECT_NE(complaint({"/dev/null"}, {}).find("not a file or folder"), std::string::npos);
  EXPECT_NE(complaint({}, {at("no/folder/out")}).find("no/folder does not exist"), std::string::npos);
  EXPECT_NE(complaint({}, {"/dev/null"}).find("not a file or folder"), std::string::npos);
  EXPECT_NE(complaint({}, {make_file("file") + "/out"}).find("does not exist"), std::string::npos);
}

TEST_F(CheckMounts, RefusesPlacesThatOverlapForTheProgram) {
  const std::string a = make_file("a") + ":/x";
  EXPECT_NE(complaint({a, make_file("b") + ":/x"}, {}), "");
  EXPECT_NE(complaint({a}, {at("out") + ":/x/y"}), "");
  EXPECT_NE(complaint({a}, {at("out") + ":/"}), "");
  EXPECT_EQ(complaint({a}, {at("out") + ":/xy"}), "");
}

}  // namespace
}  // namespace gw::cli
