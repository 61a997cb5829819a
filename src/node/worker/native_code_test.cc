#include "node/worker/native_code.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "os/files/file.h"

namespace gw::node {
namespace {

using isolate::CodeKind;

class NativeCodeTest : public ::testing::Test {
 protected:
  NativeCode open(std::vector<std::string> compiler) const {
    return *NativeCode::open({.cache_root = root(), .compiler = std::move(compiler)});
  }
  std::filesystem::path root() const { return folder_.path() / "cache"; }

  // The shell calls the kind, which is added, $0.
  const std::vector<std::string> compiler_ = {"/bin/sh", "-c", "cat; echo \" for $0\""};
  const Bytes wasm_ = {'w', 'a', 's', 'm'};

 private:
  os::TempDir folder_ = *os::TempDir::make();
};

TEST_F(NativeCodeTest, KeepsWhatTheCompilerSaysForEachKind) {
  NativeCode code = open(compiler_);
  EXPECT_FALSE(code.find(sha256(wasm_), wasm_, CodeKind::start));
  ASSERT_TRUE(code.make(wasm_, CodeKind::start));
  EXPECT_FALSE(code.find(sha256(wasm_), wasm_, CodeKind::restore));
  ASSERT_TRUE(code.make(wasm_, CodeKind::restore));
  EXPECT_EQ(as_text(code.find(sha256(wasm_), wasm_, CodeKind::start)->bytes()), "wasm for start\n");
  EXPECT_EQ(as_text(code.find(sha256(wasm_), wasm_, CodeKind::restore)->bytes()), "wasm for restore\n");
}

TEST_F(NativeCodeTest, StoresNothingOfACompilerThatFails) {
  NativeCode code = open({"/bin/sh", "-c", "echo half; echo too large >&2; exit 1"});
  Status made = code.make(wasm_, CodeKind::start);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().detail, "the module was not compiled: too large\n");
  EXPECT_FALSE(code.find(sha256(wasm_), wasm_, CodeKind::start));
}

// The compiler of the outer make() runs the inner one.
TEST_F(NativeCodeTest, OneCompilationAtATime) {
  const std::string inner = "flock -n " + (root() / "code.lock").string() + " echo free || echo taken";
  NativeCode code = open({"/bin/sh", "-c", inner});
  ASSERT_TRUE(code.make(wasm_, CodeKind::start));
  EXPECT_EQ(as_text(code.find(sha256(wasm_), wasm_, CodeKind::start)->bytes()), "taken\n");
}

// A named pipe makes the test wait for the filler, and for nothing else.
TEST_F(NativeCodeTest, AMissStartsTheFiller) {
  const std::filesystem::path pipe = root().parent_path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  NativeCode code = *NativeCode::open({.cache_root = root(), .filler = {"/bin/sh", "-c", "{ cat; echo \" $0\"; } > " + pipe.string()}});
  EXPECT_FALSE(code.find(sha256(wasm_), wasm_, CodeKind::restore));
  EXPECT_EQ(as_text(*os::read_file(pipe, 100)), "wasm restore\n");
}

}  // namespace
}  // namespace gw::node
