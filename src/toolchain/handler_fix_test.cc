#include "toolchain/handler_fix.h"

#include <gtest/gtest.h>

#include "os/files/file.h"
#include "toolchain/clang.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPlain = "int twice(int x) { return 2 * x; }";
// A handler inside which another exception may pass, and a variable that both change.
constexpr std::string_view kNested = R"(
struct Cleanup { ~Cleanup(); };
int may_throw(int);
int nested(int x) {
  try {
    try {
      x = x * 7 + may_throw(x);
      if (x % 3 == 0) throw 1;
    } catch (...) {
      Cleanup cleanup;
      x += may_throw(x);
      if (x % 5 == 0) throw;
    }
  } catch (...) {
  }
  return x;
})";

class HandlerFix : public ::testing::Test {
 protected:
  fs::path bitcode_of(std::string_view source) {
    EXPECT_TRUE(os::write_file_atomic(dir_.path() / "source.cc", as_bytes(source)));
    Words command = compile_command(Language::cxx, Exceptions::on, dir_.path());
    append(command, {"-emit-llvm", "-c", "source.cc", "-o", "source.bc"});
    EXPECT_TRUE(run_tool(std::move(command), dir_.path(), "the test does not compile"));
    return dir_.path() / "source.bc";
  }

  static Bytes content_of(const fs::path& file) { return os::read_file(file, 1u << 20).value(); }

  std::string text_of(const fs::path& bitcode) {
    Words command = generate_command();
    append(command, {"-S", "-emit-llvm", bitcode.string(), "-o", "-"});
    return run_tool(std::move(command), dir_.path(), "the bitcode is not valid").value().out;
  }

  os::TempDir dir_ = os::TempDir::make().value();
};

TEST_F(HandlerFix, NestedHandlersGetCopiesOfWhatTheyShare) {
  const fs::path file = bitcode_of(kNested);
  ASSERT_EQ(text_of(file).find("freeze"), std::string::npos);
  const Status fixed = fix_handlers({file});
  ASSERT_TRUE(fixed) << fixed.error().detail;
  EXPECT_NE(text_of(file).find("freeze"), std::string::npos);
}

TEST_F(HandlerFix, CodeThatNeedsNoFixStaysTheSame) {
  const fs::path file = bitcode_of(kPlain);
  const Bytes before = content_of(file);
  ASSERT_TRUE(fix_handlers({file}));
  EXPECT_EQ(content_of(file), before);
}

TEST_F(HandlerFix, SomethingElseIsRefused) {
  const fs::path file = dir_.path() / "junk.bc";
  ASSERT_TRUE(os::write_file_atomic(file, as_bytes("this is not bitcode")));
  const Status fixed = fix_handlers({file});
  ASSERT_FALSE(fixed);
  EXPECT_NE(fixed.error().detail.find("is not LLVM bitcode"), std::string::npos) << fixed.error().detail;
  EXPECT_FALSE(fix_handlers({dir_.path() / "missing.bc"}));
}

}  // namespace
}  // namespace gw::toolchain
