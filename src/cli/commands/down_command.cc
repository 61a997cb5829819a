#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/console/job_tables.h"
#include "cli/daemon/daemon_process.h"
#include "cli/daemon/systemd_unit.h"
#include "node/disk/state_folder.h"

namespace gw::cli {
namespace {

// The state folder is unlocked when everything is on disk and the process has ended, so that the next daemon can start at once.
Status wait_until_gone(const node::NodeView& node) {
  constexpr useconds_t kPause = 10'000;
  const auto deadline = std::chrono::steady_clock::now() + DaemonProcess::kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (!node::StateFolder::in_use(node.state)) return ok();
    ::usleep(kPause);
  }
  return fail(Kind::timeout, "the daemon was asked to stop and still runs: see its log, {}", log_file(node.state).string());
}

Result<int> uninstall(Invocation& invocation) {
  GW_TRY(const UnitChange change, uninstall_unit());
  const std::string text = fmt::format("Removed {}{}\n", unit_file().string(), change.taken ? " and stopped the daemon" : "");
  invocation.console.print(
      {"godwit.down.uninstall/1", {{"unit", unit_file().string()}, {"systemd", change.taken}, {"to_do", change.to_do}}, text, ""});
  if (!change.taken) invocation.console.note(change.to_do);
  return 0;
}

Result<int> stop_daemon(Invocation& invocation) {
  gateway::Client client(invocation.settings.socket());
  GW_TRY(const node::NodeView node, client.node());
  GW_TRY_VOID(client.stop());
  GW_TRY_VOID(wait_until_gone(node));
  invocation.console.print(
      {"godwit.down/1", {{"id", node.id.hash.hex()}}, fmt::format("Stopped peer {}\n", peer_text(node.name, node.id)), ""});
  return 0;
}

}  // namespace

void add_down_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "down",
      {.summary = "Stop the daemon of this machine",
       .details =
           "Tasks that it runs for other peers continue there from their last checkpoint. Its own jobs continue when it is started again.",
       .examples = {"godwit down", "godwit down --state /srv/second", "godwit down --uninstall"}});
  auto removes = std::make_shared<bool>(false);
  command.add_flag("--uninstall", *removes, "Stop and remove the systemd unit of 'godwit up --install'");
  tree.add_setting(command, Key::socket);
  tree.add_setting(command, Key::state);
  command.on_selected([removes](Invocation& invocation) { return *removes ? uninstall(invocation) : stop_daemon(invocation); });
}

}  // namespace gw::cli
