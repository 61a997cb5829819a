#include "toolchain/build_memo.h"

#include <gtest/gtest.h>

#include "os/files/file.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

class BuildMemoTest : public testing::Test {
 protected:
  void write(const fs::path& path, std::string_view text) const {
    fs::create_directories(path.parent_path());
    EXPECT_TRUE(os::write_file_atomic(path, as_bytes(text)));
  }
  // Remembers the build with a time an hour ahead, so that all files look old.
  void remember() const {
    memo_.remember(kQuestion, kProduct, {source_, header_}, BuildMemo::WallTime::clock::now() + std::chrono::hours(1));
  }

  const Hash256 kQuestion = sha256(as_bytes("question")), kProduct = sha256(as_bytes("product"));
  const os::TempDir dir_ = os::TempDir::make().value();
  const fs::path source_ = dir_.path() / "source" / "a.c", header_ = dir_.path() / "headers" / "a.h";
  const BuildMemo memo_ = BuildMemo::open(dir_.path() / "memo").value();

  void SetUp() override {
    write(source_, "int main() {}");
    write(header_, "#define A 1");
    remember();
  }
};

TEST_F(BuildMemoTest, RecallsWhatHasNotChanged) {
  EXPECT_EQ(memo_.recall(kQuestion), kProduct);
  EXPECT_EQ(BuildMemo::open(dir_.path() / "memo")->recall(kQuestion), kProduct);
  EXPECT_FALSE(memo_.recall(sha256(as_bytes("another"))));
}

TEST_F(BuildMemoTest, AFileThatChangesMakesItForget) {
  write(header_, "#define A 2");  // of the same size
  EXPECT_FALSE(memo_.recall(kQuestion));
  remember();
  EXPECT_TRUE(memo_.recall(kQuestion));
  fs::remove(header_);
  EXPECT_FALSE(memo_.recall(kQuestion));
}

TEST_F(BuildMemoTest, ANewFileThatMightBeFoundFirstMakesItForget) {
  write(source_.parent_path() / "a.h", "#define A 3");
  EXPECT_FALSE(memo_.recall(kQuestion));
}

TEST_F(BuildMemoTest, DoesNotRememberWhatChangedDuringTheBuild) {
  write(source_, "int main() { }");
  memo_.remember(kQuestion, kProduct, {source_, header_}, BuildMemo::WallTime::clock::now());
  EXPECT_FALSE(memo_.recall(kQuestion));
}

}  // namespace
}  // namespace gw::toolchain
