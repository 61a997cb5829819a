// godwit-cc, and by the name godwit-c++ the compiler for C++.

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "compiler_driver/driver.h"

int main(int count, char** words) {
  using namespace gw;
  const std::string name = std::filesystem::path(words[0]).filename().string();
  const auto driver = name.ends_with("++") ? toolchain::Language::cxx : toolchain::Language::c;
  const auto arguments = compiler_driver::Arguments::parse({words + 1, words + count}, driver);
  const Status done = arguments ? compiler_driver::run(*arguments, driver) : Status(arguments.error());
  if (done) return 0;
  fmt::print(stderr, "{}: {}\n", name, done.error().detail);
  return 1;
}
