#include <fmt/format.h>

#include "checks/checkers.h"
#include "simulated_node.h"

namespace gw::sim {
namespace {

Complaint compare(const job::StoredForOthers& used, const job::StoredForOthers& limit, std::string_view whose) {
  if (used.threads <= limit.threads && used.blobs <= limit.blobs && used.bytes <= limit.bytes && used.nodes <= limit.nodes &&
      used.determinants <= limit.determinants)
    return "";
  return fmt::format("a peer stores {} threads, {} blobs, {} bytes, {} nodes and {} determinants for {}, which is more than allowed",
                     used.threads, used.blobs, used.bytes, used.nodes, used.determinants, whose);
}

}  // namespace

Complaint check_storage(const SimulatedNode& node) {
  constexpr std::size_t kOwn = 1000;  // blobs of its own jobs and of the threads it hosts, which are few in every scenario with such limits
  const job::Budget& budget = node.peer().budget();
  const job::Budget::Limits& limits = node.config().budget;
  if (Complaint wrong = compare(budget.used(), limits.all, "all others"); !wrong.empty()) return wrong;
  for (const auto& [origin, used] : budget.used_by_origin())
    if (Complaint wrong = compare(used, limits.origin, "one of them"); !wrong.empty()) return wrong;
  if (node.disk().blobs() > limits.all.blobs + kOwn)
    return fmt::format("{} blobs are on the disk of a peer that keeps {} for others", node.disk().blobs(), limits.all.blobs);
  return "";
}

}  // namespace gw::sim
