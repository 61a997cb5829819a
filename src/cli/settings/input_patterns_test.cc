#include "cli/settings/input_patterns.h"

#include <gtest/gtest.h>

#include <fstream>

#include "os/files/file.h"

namespace gw::cli {
namespace input_patterns_test {

namespace fs = std::filesystem;

class InputPatterns : public ::testing::Test {
 protected:
  void make(const std::string& name) const {
    fs::create_directories((folder.path() / name).parent_path());
    std::ofstream(folder.path() / name) << name;
  }
  std::string at(const std::string& name) const { return (folder.path() / name).string(); }
  std::string complaint(const std::string& word) const {
    const auto words = expand_input_patterns({word});
    return words ? "" : words.error().detail;
  }

  const os::TempDir folder = os::TempDir::make().value();
};

TEST_F(InputPatterns, StandForTheFilesThatMatchInOrder) {
  for (const char* name : {"in/b.png", "in/a.png", "in/c.txt"}) make(name);
  EXPECT_EQ(
      expand_input_patterns({at("in/*.png"), at("in/c.txt") + ":/c"}).value(),
      (std::vector<std::string>{at("in/a.png") + ":" + at("in/a.png"), at("in/b.png") + ":" + at("in/b.png"), at("in/c.txt") + ":/c"}));
}

TEST_F(InputPatterns, MatchesLieBelowTheirGuestPathByTheirLastNames) {
  for (const char* name : {"in/a.png", "in/b.png"}) make(name);
  EXPECT_EQ(expand_input_patterns({at("*/?.png") + ":/data/"}).value(),
            (std::vector<std::string>{at("in/a.png") + ":/data/a.png", at("in/b.png") + ":/data/b.png"}));
}

TEST_F(InputPatterns, AFileThatIsCalledLikeAPatternIsThatFile) {
  make("what?");
  make("whatx");
  EXPECT_EQ(expand_input_patterns({at("what?")}).value(), std::vector<std::string>{at("what?")});
  EXPECT_EQ(expand_input_patterns({"missing", "a:b"}).value(), (std::vector<std::string>{"missing", "a:b"}));
}

TEST_F(InputPatterns, EachMistakeIsOneSentence) {
  EXPECT_EQ(complaint(at("*.gif")), "--input " + at("*.gif") + ": no file matches");
  make("one/x");
  make("two/x");
  EXPECT_NE(complaint(at("*/x") + ":/data").find("two files would be /data/x for the program"), std::string::npos);
  make("three/a:b");
  EXPECT_NE(complaint(at("three/*")).find("whose name has a colon"), std::string::npos);
  for (int i = 0; i < 1025; ++i) make("many/" + std::to_string(i));
  EXPECT_NE(complaint(at("many/*")).find("1025 files match, more than 1024"), std::string::npos);
}

}  // namespace input_patterns_test
}  // namespace gw::cli
