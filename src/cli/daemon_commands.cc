#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "cli/commands.h"
#include "cli/daemon_process.h"
#include "gateway/view_json.h"
#include "os/io.h"
#include "wire/grid_name.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

struct UpOptions {
  std::vector<std::string> join;
  std::vector<std::string> grids;
  std::string listen;
  std::string state;
  std::optional<std::uint32_t> slots;
  bool foreground = false;
  bool ephemeral = false;
};

Result<DaemonOptions> to_daemon_options(const UpOptions& options, const Settings& settings) {
  if (options.slots == 0u) return fail(Kind::invalid, "--slots 0 would lend nothing: give at least 1");
  for (const std::string& grid : options.grids) GW_TRY_VOID(wire::check_grid_name(grid));
  return DaemonOptions{.socket = fs::absolute(settings.socket()),
                       .state = options.state,
                       .listen = options.listen,
                       .join = options.join,
                       .grids = options.grids,
                       .slots = options.slots};
}

// Becomes the daemon: its log goes to this terminal, and Ctrl-C stops it.
Error become_daemon(const DaemonOptions& options, const UpOptions& up) {
  auto program = daemon_program();
  if (!program) return program.error();
  std::vector<std::string> words = daemon_words(*program, options);
  if (up.ephemeral) words.emplace_back("--ephemeral");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(program->c_str(), pointers.data());
  return fail(Kind::internal, "cannot start {}: {}", program->string(), os::reason(errno));
}

Result<int> up(const UpOptions& options, Invocation& invocation) {
  GW_TRY(const DaemonOptions daemon, to_daemon_options(options, invocation.settings));
  if (auto there = gateway::Client(daemon.socket).node())
    return fail(Kind::invalid, "peer {} listens at {} already: 'godwit down' ends it, --socket names another place", there->id.brief(),
                daemon.socket.string());
  if (options.foreground || options.ephemeral) return become_daemon(daemon, options);
  invocation.console.progress("starting...");
  const fs::path log = daemon.socket.string() + ".log";
  GW_TRY(DaemonProcess process, DaemonProcess::start(daemon, log, DaemonProcess::Life::own));
  const node::NodeView& node = process.view();
  Rows rows;
  rows.add("id", "peer", node.id.hash.hex())
      .add("addresses", "address", node.addresses, fmt::format("{}", fmt::join(node.addresses, ", ")))
      .add("slots", "slots", node.slots)
      .add("socket", "socket", daemon.socket.string())
      .add("log", "log", log.string())
      .add("pid", "process", process.pid());
  process.leave();
  const std::string hint = node.addresses.empty() ? "" : fmt::format("\nothers join with: godwit up --join {}\n", node.addresses.front());
  invocation.console.print({"godwit.up/1", rows.json(), rows.render(invocation.console.out()) + hint, node.id.hash.hex()});
  return 0;
}

// The socket goes with the daemon, so nobody listening means that it is over.
Status wait_until_gone(const fs::path& socket) {
  constexpr useconds_t kPause = 20'000;
  const auto deadline = std::chrono::steady_clock::now() + DaemonProcess::kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (!gateway::Client(socket).node()) return ok();
    ::usleep(kPause);
  }
  return fail(Kind::timeout, "the daemon was asked to stop and still answers; its log is {}.log", socket.string());
}

Result<int> down(Invocation& invocation) {
  const fs::path socket = invocation.settings.socket();
  gateway::Client client(socket);
  GW_TRY(const node::NodeView node, client.node());
  GW_TRY_VOID(client.stop());
  GW_TRY_VOID(wait_until_gone(socket));
  invocation.console.print({"godwit.down/1", {{"id", node.id.hash.hex()}}, fmt::format("peer {} has stopped\n", node.id.brief()), ""});
  return 0;
}

}  // namespace

void add_up_command(CommandTree& tree) {
  Command& command = tree.add(tree.root(), "up",
                              {.summary = "Start a peer: lend this machine, and run jobs on others",
                               .details = "The peer is a daemon of this user. It keeps the jobs handed to it through kills and restarts, "
                                          "and runs threads of other peers' jobs, each "
                                          "in a sandboxed process, on as many slots as it lends. 'godwit down' stops it.",
                               .examples = {"godwit up", "godwit up --listen 0.0.0.0:7400 --slots 4", "godwit up --join 10.0.0.5:7400",
                                            "godwit up --foreground --socket /tmp/second --state /tmp/second.state"}});
  auto options = std::make_shared<UpOptions>();
  command.add_repeatable("--join", options->join, "Join the grid of the peer at this address", "HOST:PORT");
  command.add_repeatable("--grid", options->grids, "Be in the grid of this name; jobs that name none run in the first (default: open)",
                         "NAME");
  command.add_option("--listen", options->listen, "Where other peers reach this one (default: any address, port chosen by the system)",
                     "HOST:PORT");
  command.add_number("--slots", options->slots, "How many threads to run at once (default: one for each core)", "N");
  command.add_option("--state", options->state,
                     "Where the peer keeps its key, its jobs and their data (default: in the user's state folder)", "FOLDER");
  command.add_flag("--foreground", options->foreground, "Stay in this terminal and log there");
  command.add_flag("--ephemeral", options->ephemeral, "End together with standard input; implies --foreground");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return up(*options, invocation); });
}

void add_down_command(CommandTree& tree) {
  Command& command = tree.add(tree.root(), "down",
                              {.summary = "Stop the peer of this machine",
                               .details = "In good order: threads it runs for others go on elsewhere, its own jobs when it is up again.",
                               .examples = {"godwit down", "godwit down --socket /tmp/second"}});
  tree.add_setting(command, Key::socket);
  command.on_selected([](Invocation& invocation) { return down(invocation); });
}

}  // namespace gw::cli
