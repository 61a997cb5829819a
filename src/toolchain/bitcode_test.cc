#include <gtest/gtest.h>

#include "os/files/file.h"
#include "toolchain/bitcode.h"
#include "toolchain/clang.h"
#include "toolchain/thread_locals.h"

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

class Bitcode : public ::testing::Test {
 protected:
  fs::path bitcode_of(std::string_view source, const Words& flags = {"-emit-llvm"}) {
    EXPECT_TRUE(os::write_file_atomic(dir_.path() / "source.cc", as_bytes(source)));
    Words command = compile_command(Language::cxx, Exceptions::on, dir_.path());
    append(command, flags);
    append(command, {"-c", "source.cc", "-o", "source.bc"});
    EXPECT_TRUE(run_tool(std::move(command), dir_.path(), "the test does not compile"));
    return dir_.path() / "source.bc";
  }

  static Bytes content_of(const fs::path& file) { return os::read_file(file, 1u << 20).value(); }

  std::string text_of(const fs::path& bitcode) {
    Words command = generate_command(Exceptions::on);
    append(command, {"-S", "-emit-llvm", bitcode.string(), "-o", "-"});
    return run_tool(std::move(command), dir_.path(), "the bitcode is not valid").value().out;
  }

  os::TempDir dir_ = os::TempDir::make().value();
};

TEST_F(Bitcode, NestedHandlersGetCopiesOfWhatTheyShare) {
  const fs::path file = bitcode_of(kNested);
  ASSERT_EQ(text_of(file).find("freeze"), std::string::npos);
  const Status fixed = rewrite_bitcode({file});
  ASSERT_TRUE(fixed) << fixed.error().detail;
  EXPECT_NE(text_of(file).find("freeze"), std::string::npos);
}

TEST_F(Bitcode, CodeThatNeedsNoFixStaysTheSame) {
  const fs::path file = bitcode_of(kPlain);
  const Bytes before = content_of(file);
  ASSERT_TRUE(rewrite_bitcode({file}));
  EXPECT_EQ(content_of(file), before);
}

TEST_F(Bitcode, StaticObjectsAreSafeForThreadsWithoutAtomicInstructions) {
  const fs::path file =
      bitcode_of("struct Made { Made(); int x; }; int f() { static Made made; return made.x; }", bitcode_flags(Language::cxx));
  ASSERT_NE(text_of(file).find("+atomics"), std::string::npos);
  ASSERT_TRUE(rewrite_bitcode({file}));
  const std::string text = text_of(file);
  EXPECT_NE(text.find("__cxa_guard_acquire"), std::string::npos);
  EXPECT_NE(text.find("+simd128"), std::string::npos);
  EXPECT_EQ(text.find("+atomics"), std::string::npos);
  EXPECT_EQ(text.find("+bulk-memory"), std::string::npos);
}

// With an initial value, with a constructor, of another file, inside a handler, a part of one.
constexpr std::string_view kThreadLocals = R"(
struct Made { Made(); ~Made(); int a, b; };
thread_local int initial = 5;
thread_local Made made;
extern thread_local int elsewhere;
static thread_local int table[9];
template <class T> struct Of { static thread_local T value; };
template <class T> thread_local T Of<T>::value = 2;
void may_throw();
int f(int i) {
  try { may_throw(); } catch (...) { initial += made.b; }
  return elsewhere + table[3] + table[i]++ + Of<int>::value++;
})";

TEST_F(Bitcode, EveryAccessToAThreadLocalVariableAsksTheRuntime) {
  const fs::path file = bitcode_of(kThreadLocals, bitcode_flags(Language::cxx));
  const Status rewritten = rewrite_bitcode({file});
  ASSERT_TRUE(rewritten) << rewritten.error().detail;
  const std::string text = text_of(file);
  EXPECT_EQ(text.find("thread_local global"), std::string::npos) << text;
  EXPECT_EQ(text.find("call nonnull align"), std::string::npos) << text;  // of the intrinsic
  for (const char* record : {"@godwit_thread.initial = ", "@godwit_thread.made = ", "@godwit_thread.elsewhere = external ",
                             "@godwit_thread._ZN2OfIiE5valueE = linkonce_odr ", "call ptr @godwit_thread_variable("})
    EXPECT_NE(text.find(record), std::string::npos) << record << text;
  EXPECT_NE(text.find("@godwit_thread_initial.initial = internal constant i32 5"), std::string::npos) << text;
}

TEST(ThreadLocals, AreNamedByWholeWords) {
  EXPECT_TRUE(mentions_thread_locals("static thread_local int x;"));
  EXPECT_TRUE(mentions_thread_locals("_Thread_local"));
  EXPECT_TRUE(mentions_thread_locals("extern __thread int x;"));
  EXPECT_FALSE(mentions_thread_locals("int my_thread_local, __threads, thread_local_;"));
}

TEST_F(Bitcode, SomethingElseIsRefused) {
  const fs::path file = dir_.path() / "junk.bc";
  ASSERT_TRUE(os::write_file_atomic(file, as_bytes("this is not bitcode")));
  const Status fixed = rewrite_bitcode({file});
  ASSERT_FALSE(fixed);
  EXPECT_NE(fixed.error().detail.find("is not LLVM bitcode"), std::string::npos) << fixed.error().detail;
  EXPECT_FALSE(rewrite_bitcode({dir_.path() / "missing.bc"}));
}

}  // namespace
}  // namespace gw::toolchain
