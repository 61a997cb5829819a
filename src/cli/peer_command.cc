#include "cli/commands.h"
#include "cli/job_tables.h"
#include "gateway/client.h"
#include "gateway/view_json.h"

namespace gw::cli {
namespace {

Result<int> list(Invocation& invocation) {
  GW_TRY(const auto peers, gateway::Client(invocation.settings.socket()).peers());
  std::string ids;
  for (const node::PeerView& peer : peers) ids += (ids.empty() ? "" : "\n") + peer.id.hash.hex();
  invocation.console.print({"godwit.peer.list/1", gateway::to_json(peers), table_of(peers, invocation.console.out()), ids});
  return 0;
}

}  // namespace

void add_peer_commands(CommandTree& tree) {
  Command& peer = tree.add(tree.root(), "peer",
                           {.summary = "Look at the peers of the grid",
                            .details = "",
                            .examples = {"godwit peer list", "godwit peer list --socket /tmp/second"}});
  peer.require_subcommand();
  Command& command =
      tree.add(peer, "list",
               {.summary = "List the peers that the one of this machine knows",
                .details = "A suspected peer has not answered for some seconds, a silent one for so long that it counts as gone. "
                           "The distance is the time to there and back, measured or estimated; the class says whether a peer can "
                           "be dialled (open) or only dials others (outbound).",
                .examples = {"godwit peer list", "godwit peer list -o json"}});
  tree.add_setting(command, Key::socket);
  command.on_selected([](Invocation& invocation) { return list(invocation); });
}

}  // namespace gw::cli
