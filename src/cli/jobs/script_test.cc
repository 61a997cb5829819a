#include "cli/jobs/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gw::cli {
namespace {

SourceOptions of(std::string file) { return {.files = {std::move(file)}}; }

TEST(Script, IsKnownByItsExtension) {
  const auto script = find_script(of("folder/primes.lua"), "", {});
  ASSERT_TRUE(script && *script);
  EXPECT_EQ((*script)->interpreter_name, "lua");
  EXPECT_EQ((*script)->guest_path, "/folder/primes.lua");
  EXPECT_EQ((*script)->mount, "folder/primes.lua");
}

TEST(Script, SourcesAndModulesAreNone) {
  for (const char* name : {"primes.c", "primes.cpp", "primes.wasm", "primes"}) EXPECT_FALSE(find_script(of(name), "", {}).value()) << name;
}

TEST(Script, IsAnyFileIfTheUserNamesTheInterpreter) {
  const auto script = find_script(of("program.scm"), "lib/scheme.wasm", {}).value();
  ASSERT_TRUE(script);
  EXPECT_EQ(script->interpreter_name, "scheme");
  EXPECT_EQ(script->language, nullptr);
}

TEST(Script, IsNotMountedTwiceInsideAnInputOfTheUser) {
  EXPECT_FALSE(find_script(of("work/main.py"), "", {"work"}).value()->mount);
  EXPECT_FALSE(find_script(of("main.py"), "", {"main.py"}).value()->mount);
  EXPECT_TRUE(find_script(of("workshop/main.py"), "", {"work"}).value()->mount);
}

TEST(Script, RefusesWhatOnlyACompilerUnderstands) {
  SourceOptions two = of("a.lua");
  two.files.push_back("b.lua");
  EXPECT_EQ(find_script(two, "", {}).error().kind, Kind::invalid);
  SourceOptions defines = of("a.lua");
  defines.definitions.push_back("X=1");
  EXPECT_THAT(find_script(defines, "", {}).error().detail, testing::HasSubstr("C and C++ only"));
}

}  // namespace
}  // namespace gw::cli
