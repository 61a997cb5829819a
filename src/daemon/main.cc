// godwit-daemon: a peer of this machine. Started by `godwit up`, or by hand.

#include <csignal>
#include <cstdio>

#include "base/log.h"
#include "daemon/daemon.h"
#include "daemon/log_output.h"
#include "daemon/tracker_main.h"
#include "os/files/descriptor_limit.h"
#include "os/files/file.h"
#include "wire/messages/protobuf_log.h"

namespace {

using namespace gw;

// The daemon starts itself with this word, detached, to fill the code cache; see node::NativeCode.
int fill_code_cache(std::span<const std::string> arguments) {
  const auto cache = os::cache_dir();
  const auto options = daemon::parse_options({});
  if (!cache || !options) return 1;
  return node::fill_code_cache_main({.cache_root = *cache, .compiler = {options->worker.string(), "--compile"}}, arguments);
}

int refuse(const Error& why) {
  std::fprintf(stderr, "godwit-daemon: %s\n", why.detail.c_str());
  return why.kind == Kind::invalid ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  wire::log_protobuf_quietly();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "fill-code-cache") return fill_code_cache(std::span(arguments).subspan(1));
  if (arguments == std::vector<std::string>{"--help"}) {
    std::fputs(daemon::usage().c_str(), stdout);
    return 0;
  }
  std::signal(SIGPIPE, SIG_IGN);  // a closed connection is reported by the write
  os::raise_descriptor_limit();
  log::set_level(log::Level::info);
  if (!arguments.empty() && arguments.front() == "tracker") {
    if (Status chosen = daemon::choose_log({}); !chosen) return refuse(chosen.error());
    const Status served = daemon::run_tracker(std::span(arguments).subspan(1));
    return served ? 0 : refuse(served.error());
  }
  const auto options = daemon::parse_options(arguments);
  if (!options) return refuse(options.error());
  if (Status chosen = daemon::choose_log(options->log); !chosen) return refuse(chosen.error());
  auto made = daemon::Daemon::make(*options);
  if (!made) return refuse(made.error());
  const Status ended = (*made)->run();
  return ended ? 0 : refuse(ended.error());
}
