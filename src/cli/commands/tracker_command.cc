#include <unistd.h>

#include <cerrno>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/daemon/daemon_process.h"
#include "os/files/io.h"

namespace gw::cli {
namespace {

struct TrackerOptions {
  std::string listen = "0.0.0.0:7480";
  std::string file = "godwit-tracker.state";
};

// Replaces this process by the tracker, which is part of the daemon's program.
Result<int> serve(const TrackerOptions& options) {
  GW_TRY(const std::filesystem::path program, daemon_program());
  std::vector<std::string> words{program.string(), "tracker", options.listen, options.file};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  return fail(Kind::internal, "cannot start {}: {}", program.string(), os::reason(errno));
}

}  // namespace

void add_tracker_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "tracker",
      {.summary = "Run a tracker, which helps new peers find a grid",
       .details = "Runs a web service until Ctrl-C. Peers started with --join http://HOST:PORT announce themselves to it and ask it for "
                  "other peers of their grids. A grid goes on without its tracker, and a tracker cannot forge peers; see "
                  "docs/tracker.md. 'godwit up --tracker' runs a tracker inside the daemon.",
       .examples = {"godwit tracker", "godwit tracker --listen 0.0.0.0:7480 --file /var/lib/godwit/tracker"}});
  auto options = std::make_shared<TrackerOptions>();
  command.add_option("--listen", options->listen, "Address to listen at (default: all addresses, port 7480)", "ADDRESS:PORT");
  command.add_option("--file", options->file, "File with the known peers", "FILE");
  command.on_selected([options](Invocation&) { return serve(*options); });
}

}  // namespace gw::cli
