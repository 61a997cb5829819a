// What the owner of this machine lends, enforced.

#include "node/driver/driver.h"

namespace gw::node {

// A worker's part of the memory and of the time is as large as its part of the slots.
WorkerShare Driver::share_of(const job::JobId& job) const {
  const Share& share = config_.share;
  const job::SlotLeases::Grant* const grant = peer_->slots().find(job);
  const std::uint32_t slots = grant == nullptr ? 1 : grant->slots;
  WorkerShare part{.percent = share.cpu_percent};
  if (share.memory_bytes > 0) part.resident_bytes = share.memory_bytes / std::max(share.cores, 1u) * slots;
  if (share.cpu_percent < 100) part.processors = slots * share.cpu_percent / 100.0;
  return part;
}

std::vector<HostedJobView> Driver::hosted() const {
  std::vector<HostedJobView> views;
  for (const auto& [id, grant] : peer_->slots().grants()) {
    using State = HostedJobView::State;
    views.push_back({.id = id, .home = grant.home, .state = grant.claimed ? State::claimed : State::reserved, .slots = grant.slots});
    for (const auto& [worker_id, worker] : workers_)
      if (worker.job == id) views.back().memory_bytes += worker.process->resident_bytes();
  }
  return views;
}

void Driver::share(const ShareChange& change, std::function<void(Result<Share>)> done) {
  const Result<Share> next = stopping_ ? fail(Kind::disconnected, "the daemon stops") : changed(config_.share, change);
  if (!next) return post([done, why = next.error()] { done(why); });
  if (reads_ >= kMaxPending) return post([done] { done(fail(Kind::overloaded, "too many requests are under way: try again later")); });
  ++reads_;
  disk_.with_blobs([this, next = *next, file = config_.share_file, done = std::move(done)](BlobStore&) {
    Status stored = file.empty() ? ok() : save_share(file, next);
    disk_.answer([this, next, stored = std::move(stored), done] {
      --reads_;
      if (!stored) return done(stored.error());
      apply_share(next);
      done(next);
    });
  });
}

// First the slots, because a worker's part depends on them. A job that uses more memory than its part moves to other peers instead of being
// killed.
void Driver::apply_share(const Share& share) {
  config_.share = share;
  const job::SlotLeases::Caps caps{.slots_per_origin = share.slots_per_peer, .jobs_per_origin = share.jobs_per_peer};
  turn([&](job::Time now, Actions& out) {
    peer_->on_local(now, peer::SetSlots{.slots = share.cores, .memory_bytes = share.memory_bytes, .vacate = {}, .caps = caps}, out);
  });
  std::vector<job::JobId> too_large;
  for (const auto& [id, worker] : workers_) {
    const WorkerShare part = share_of(worker.job);
    if (worker.process->resident_bytes() > part.resident_bytes) {
      too_large.push_back(worker.job);
    } else {
      worker.process->hold(part);
    }
  }
  if (!too_large.empty())
    turn([&](job::Time now, Actions& out) {
      peer_->on_local(now, peer::SetSlots{.slots = share.cores, .memory_bytes = share.memory_bytes, .vacate = too_large, .caps = caps},
                      out);
    });
  arm();
}

}  // namespace gw::node
