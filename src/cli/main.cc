// godwit: the command line.

#include <string>
#include <vector>

#include "cli/code_compiler.h"
#include "cli/command_line.h"
#include "isolate/compile_main.h"
#include "os/file.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string first = words.empty() ? "" : words.front();
  // The compile-only process: nothing of the rest may run in it.
  if (first == gw::cli::kCompileWord) return gw::isolate::compile_only_main({words.begin() + 1, words.end()});
  if (first == gw::cli::kFillWord) {
    const auto cache = gw::os::cache_dir();
    return cache ? gw::node::fill_code_cache_main(gw::cli::native_code_config(*cache), {words.begin() + 1, words.end()}) : 1;
  }
  return gw::cli::command_line(words);
}
