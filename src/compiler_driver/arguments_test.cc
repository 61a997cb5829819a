#include "compiler_driver/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gw::compiler_driver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Mode = Arguments::Mode;

Arguments parsed(const Words& words, Language driver = Language::c) { return Arguments::parse(words, driver).value(); }

TEST(CompilerArguments, ACompilationNamesItsSourceAndObject) {
  const Arguments arguments = parsed({"-g", "-O2", "-DX=1", "-I", "include", "-c", "a.c", "-o", "a.o"});
  EXPECT_EQ(arguments.mode, Mode::compile);
  ASSERT_EQ(arguments.sources.size(), 1u);
  EXPECT_EQ(arguments.sources[0].path, "a.c");
  EXPECT_EQ(arguments.output, "a.o");
  EXPECT_THAT(arguments.compile, ElementsAre("-g", "-O2", "-DX=1", "-I", "include"));
}

TEST(CompilerArguments, ALinkKeepsTheOrderOfObjectsAndLibraries) {
  const Arguments arguments = parsed({"-o", "prog", "b.o", "-L.", "-lx", "liby.a", "-Wl,-z,stack-size=100"});
  EXPECT_EQ(arguments.mode, Mode::link);
  EXPECT_THAT(arguments.link, ElementsAre("b.o", "-L.", "-lx", "liby.a", "-Wl,-z,stack-size=100"));
}

TEST(CompilerArguments, TheLanguageComesFromTheNameTheDriverOrTheFlag) {
  EXPECT_EQ(parsed({"-c", "a.cc"}).sources[0].language, Language::cxx);
  EXPECT_EQ(parsed({"-c", "a.c"}, Language::cxx).sources[0].language, Language::cxx);
  EXPECT_EQ(parsed({"-c", "-x", "c++", "a.inc"}).sources[0].language, Language::cxx);
}

TEST(CompilerArguments, FlagsWithoutMeaningForWasmAreDropped) {
  const Arguments arguments =
      parsed({"-pthread", "-march=native", "-fPIC", "-Wl,-z,relro", "-Wl,--as-needed", "-fstack-protector-strong", "a.o"});
  EXPECT_THAT(arguments.link, ElementsAre("a.o"));
  EXPECT_THAT(arguments.compile, IsEmpty());
}

TEST(CompilerArguments, QuestionsAndPreprocessingGoToClang) {
  for (const Words& words : {Words{"--version"}, Words{"-E", "a.c"}, Words{"-dumpmachine"}, Words{"-E", "-"}, Words{"-M", "a.c"}, Words{}})
    EXPECT_EQ(parsed(words).mode, Mode::forward);
}

TEST(CompilerArguments, SharedLibrariesAreRefused) { EXPECT_FALSE(Arguments::parse({"-shared", "a.o", "-o", "liba.so"}, Language::c)); }

TEST(CompilerArguments, OneObjectCannotHoldSeveralSources) {
  EXPECT_FALSE(Arguments::parse({"-c", "a.c", "b.c", "-o", "x.o"}, Language::c));
  EXPECT_TRUE(Arguments::parse({"-c", "a.c", "b.c"}, Language::c));
}

}  // namespace
}  // namespace gw::compiler_driver
