// godwit: the command line.

#include <span>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/jobs/worker_program.h"
#include "os/files/file.h"
#include "wire/messages/protobuf_log.h"

namespace {

int fill_code_cache(std::span<const std::string> args) {
  const auto cache = gw::os::cache_dir();
  const auto worker = gw::cli::worker_program();
  if (!cache || !worker) return 1;  // no process waits for this one, and the next run tries again
  return gw::node::fill_code_cache_main(gw::cli::native_code_config(*cache, *worker), args);
}

}  // namespace

int main(int argc, char** argv) {
  gw::wire::log_protobuf_quietly();
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == gw::cli::kFillWord) return fill_code_cache(std::span(words).subspan(1));
  return gw::cli::command_line(words);
}
