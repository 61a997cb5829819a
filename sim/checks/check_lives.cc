#include <fmt/format.h>

#include "checks/checkers.h"

namespace gw::sim {

Complaint LifeChecker::on_started(std::size_t peer, const job::JobId& job, ThreadId thread, std::uint64_t epoch) {
  const auto [found, fresh] = lives_.try_emplace({job, thread, epoch}, peer);
  if (fresh || found->second == peer) return "";
  return fmt::format("thread {} in epoch {} runs at peer {} and at peer {}", thread.value(), epoch, found->second, peer);
}

}  // namespace gw::sim
