#include <fmt/format.h>

#include "checks/checkers.h"
#include "simulated_node.h"

namespace gw::sim {
namespace {

constexpr Time kLongEnough = std::chrono::seconds(10);
constexpr double kTolerance = 0.15;
constexpr std::uint64_t kEnoughSteps = 300;

// Judged by the rules and conditions alone: what the peer makes of them is what is checked.
bool owner_is_there(const job::Lending& lending) {
  return lending.rules().when.idle && (!lending.conditions().known || lending.conditions().owner_idle < std::chrono::minutes(3));
}

}  // namespace

Complaint LendingChecker::on_turn(Time now, const SimulatedNode& node) {
  const peer::Peer& peer = node.peer();
  std::map<job::JobId, std::uint32_t> competing;
  for (const auto& [job, grant] : peer.slots().grants()) {
    if (grant.draining_until != job::kNever) continue;
    if (grant.home != node.id() && grant.claimed && owner_is_there(peer.lender().lending()))
      return "a machine runs the job of another peer while its owner is there";
    const auto hosted_job = peer.hosted_jobs().find(job);
    if (hosted_job != peer.hosted_jobs().end() && hosted_job->second->demand()) competing[job] = grant.weight;
  }
  Window& window = windows_[node.index()];
  if (window.weights == competing) return "";
  Complaint complaint = check_parts(now, node, window);
  window = {.since = now, .weights = competing, .steps = {}};
  for (const auto& [job, weight] : competing) window.steps[job] = node.workers().steps_of(job);
  return complaint;
}

// With one slot each job of a window wants all of it.
Complaint LendingChecker::check_parts(Time now, const SimulatedNode& node, const Window& window) const {
  if (node.slots() != 1 || window.weights.size() < 2 || now - window.since < kLongEnough) return "";
  std::uint64_t all_steps = 0, all_weights = 0;
  for (const auto& [job, weight] : window.weights) {
    all_steps += node.workers().steps_of(job) - window.steps.at(job);
    all_weights += weight;
  }
  if (all_steps < kEnoughSteps) return "";
  for (const auto& [job, weight] : window.weights) {
    const double part = static_cast<double>(node.workers().steps_of(job) - window.steps.at(job)) / static_cast<double>(all_steps);
    const double due = static_cast<double>(weight) / static_cast<double>(all_weights);
    if (part < due * (1 - kTolerance) || part > due * (1 + kTolerance))
      return fmt::format("a user of weight {} of {} had {:.0f} % of the steps in {} s", weight, all_weights, 100 * part,
                         (now - window.since) / std::chrono::seconds(1));
  }
  return "";
}

}  // namespace gw::sim
