#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/console/quantity.h"
#include "cli/console/table.h"
#include "cli/jobs/peer_names.h"
#include "gateway/client.h"
#include "gateway/view_json.h"

namespace gw::cli {
namespace {

std::string slot_time(double seconds) { return human_duration(std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000))); }

Result<int> balance(Invocation& invocation) {
  gateway::Client client(invocation.settings.socket());
  GW_TRY(auto peers, client.balance());
  const PeerNames names = PeerNames::of(client);
  const auto most_first = [](const node::BalanceView& view) { return view.given_slot_seconds + view.used_slot_seconds; };
  std::ranges::sort(peers, std::ranges::greater(), most_first);
  using Align = Table::Align;
  Table table({{.heading = "PEER"},
               {.heading = "USER"},
               {.heading = "GIVEN", .align = Align::right},
               {.heading = "USED", .align = Align::right},
               {.heading = "GIVEN DATA", .align = Align::right},
               {.heading = "USED DATA", .align = Align::right}});
  double difference = 0;
  for (const node::BalanceView& peer : peers) {
    table.add_row({names.text_of(peer.peer), peer.user == Hash256() ? "-" : peer.user.hex().substr(0, 8),
                   slot_time(peer.given_slot_seconds), slot_time(peer.used_slot_seconds), human_bytes(peer.given_bytes),
                   human_bytes(peer.used_bytes)});
    difference += peer.given_slot_seconds - peer.used_slot_seconds;
  }
  const std::string text = peers.empty() ? "Nothing was lent or used yet.\n" : table.render(invocation.console.out());
  invocation.console.print({"godwit.balance/1", gateway::to_json(peers), text, fmt::format("{:.0f}", difference)});
  return 0;
}

}  // namespace

void add_balance_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "balance",
      {.summary = "Show what this machine gave to other peers and used from them",
       .details = "Shows the slot time that jobs of each user of each peer had on this machine (given), and that jobs of this machine had "
                  "there (used), "
                  "with the code, inputs and images that were moved. The lines with most come first. -o quiet prints the seconds of slots "
                  "given minus those used.",
       .examples = {"godwit balance", "godwit balance -o json"}});
  tree.add_setting(command, Key::socket);
  tree.add_setting(command, Key::state);
  command.on_selected([](Invocation& invocation) { return balance(invocation); });
}

}  // namespace gw::cli
