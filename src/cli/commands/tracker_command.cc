#include <unistd.h>

#include <cerrno>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/daemon/daemon_process.h"
#include "os/io.h"

namespace gw::cli {
namespace {

struct TrackerOptions {
  std::string listen = "0.0.0.0:7480";
  std::string file = "godwit-tracker.state";
};

// Becomes the tracker: it is a part of the daemon's program.
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
  Command& command =
      tree.add(tree.root(), "tracker",
               {.summary = "Tell peers that know nobody yet who is there: a web service, until Ctrl-C",
                .details = "Peers that were started with --join http://HOST:PORT announce themselves here, and ask for others of "
                           "their grids until they have met some. Nothing else depends on a tracker, and it can invent no peers; "
                           "docs/tracker.md has the protocol. 'godwit up --tracker' runs one beside a peer.",
                .examples = {"godwit tracker", "godwit tracker --listen 0.0.0.0:7480 --file /var/lib/godwit/tracker"}});
  auto options = std::make_shared<TrackerOptions>();
  command.add_option("--listen", options->listen, "Where it is reached (default: any address, port 7480)", "ADDRESS:PORT");
  command.add_option("--file", options->file, "Where it writes down whom it knows", "FILE");
  command.on_selected([options](Invocation&) { return serve(*options); });
}

}  // namespace gw::cli
