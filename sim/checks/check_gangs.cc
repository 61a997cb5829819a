#include <fmt/format.h>

#include "base/reached.h"
#include "checks/checkers.h"
#include "simulated_node.h"

namespace gw::sim {
namespace {

// Whether the host keeps the claim for the job, or cannot say any more.
bool keeps(const SimulatedNode* host, const job::JobId& job, std::uint64_t claim) {
  constexpr unsigned kBootShift = 32;
  if (host == nullptr || !host->up() || claim >> kBootShift != host->boot_number()) return true;
  const job::SlotLeases::Grant* grant = host->peer().slots().find(job);
  return grant != nullptr && grant->claim == claim && !grant->held;
}

}  // namespace

Complaint GangChecker::on_turn(const SimulatedNode& node, const NodeOf& node_of) {
  auto& waiting = waiting_[node.index()];
  for (const auto& [id, home] : node.peer().homes()) {
    const std::pair name{node.boot_number(), id};
    if (!home->gang().begun()) {
      waiting.insert(name);
      continue;
    }
    if (waiting.erase(name) == 0) continue;
    GW_REACHED("sim: a gang began");
    std::uint64_t slots = 0;
    for (const auto& [peer, claim] : home->claims().all())
      if (keeps(node_of(peer), id, claim.claim)) slots += claim.slots;
    if (slots < home->gang().least())
      return fmt::format("a gang that needs {} slots begins with {} that its hosts keep for it", home->gang().least(), slots);
  }
  return "";
}

Complaint GangChecker::on_wounded(const SimulatedNode& home, const SimulatedNode& host, const job::JobMessage& message) {
  if (!home.up()) return "";
  const auto found = home.peer().homes().find(job::JobId::from(message.job()));
  if (found == home.peer().homes().end() || !found->second->gang().begun()) return "";
  const job::Claim* claim = found->second->claims().find(host.id());
  if (claim == nullptr || claim->claim != message.wounded().claim()) return "";
  return "slots of a job that runs were taken away for another job";
}

}  // namespace gw::sim
