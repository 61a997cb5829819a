#include "faults/fault_injector.h"

#include "base/reached.h"

namespace gw::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

void FaultInjector::draw_from(const FaultMix& mix, Rng rng) {
  mix_ = mix;
  rng_ = rng;
  draw_second();
}

void FaultInjector::replay(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults)
    if (fault.node < nodes_.size()) timeline_.schedule(fault.at, [this, fault] { happen(fault); });
}

void FaultInjector::draw_second() {
  if (healed_) return;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (chance(mix_.kill)) draw(FaultKind::kill, node, seconds(20));
    if (chance(mix_.power)) draw(FaultKind::power, node, seconds(20));
    if (chance(mix_.pause)) draw(FaultKind::pause, node, seconds(8));
    if (chance(mix_.worker_crash)) draw(FaultKind::worker_crash, node, Time(1));
    if (chance(mix_.clog)) draw(FaultKind::clog, node, seconds(5));
    if (chance(mix_.clock_jump)) draw(FaultKind::clock_jump, node, seconds(60));
    if (chance(mix_.share_change)) draw(FaultKind::share_change, node, Time(1));
  }
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (mix_.rot > 0 && chance(mix_.rot)) draw(FaultKind::rot, node, Time(1));
    if (mix_.record_rot > 0 && chance(mix_.record_rot)) draw(FaultKind::record_rot, node, Time(1));
    if (mix_.disk_full > 0 && chance(mix_.disk_full)) draw(FaultKind::disk_full, node, seconds(30));
  }
  if (mix_.stop > 0 && chance(mix_.stop)) draw(FaultKind::stop, rng_.below(nodes_.size()), seconds(3));
  if (chance(mix_.partition)) draw(FaultKind::partition, 0, seconds(20));
  timeline_.schedule_in(seconds(1), [this] { draw_second(); });
}

void FaultInjector::draw(FaultKind kind, std::size_t node, Time longest) {
  const Fault fault{.at = timeline_.now() + Time(rng_.below(1'000'000'000)),
                    .kind = kind,
                    .node = static_cast<std::uint32_t>(node),
                    .lasts = Time(rng_.below(static_cast<std::uint64_t>(longest.count()))),
                    .seed = rng_.next()};
  timeline_.schedule(fault.at, [this, fault] { happen(fault); });
}

void FaultInjector::happen(const Fault& fault) {
  if (healed_) return;
  SimulatedNode& node = *nodes_[fault.node];
  done_.push_back(fault);
  Rng rng(fault.seed);
  switch (fault.kind) {
    case FaultKind::kill:
    case FaultKind::power:
      if (node.up()) crash(node, fault);
      return;
    case FaultKind::pause:
      node.pause_until(timeline_.now() + fault.lasts);
      return;
    case FaultKind::worker_crash:
      if (node.up()) node.kill_worker();
      return;
    case FaultKind::clog:
      return transport_.network().clog(node.index(), rng.below(nodes_.size()), timeline_.now() + fault.lasts);
    case FaultKind::partition:
      return partition(fault);
    case FaultKind::clock_jump:
      return node.jump_clock(fault.lasts);
    case FaultKind::share_change:
      if (stopping_ == node.index()) return;
      GW_REACHED("sim: a share changed");
      return node.set_slots(static_cast<std::uint32_t>(rng.below(2 * slots_ + 1)));
    case FaultKind::rot:
      any_rotted_ = node.disk().rot(rng) || any_rotted_;
      return;
    case FaultKind::disk_full:
      return node.fill_disk(fault.lasts);
    case FaultKind::record_rot:
      any_rotted_ = node.disk().rot_record(rng) || any_rotted_;
      return;
    case FaultKind::stop:
      if (node.up() && !stopping_) stop(node, fault);
      return;
  }
}

// Half of the time only the process dies and other nodes notice the closed connections at once; otherwise the whole machine is down.
void FaultInjector::crash(SimulatedNode& node, const Fault& fault) {
  Rng rng(fault.seed);
  const auto host = rng.below(2) == 0 ? SimulatedTransport::Host::answers : SimulatedTransport::Host::silent;
  node.crash(fault.kind == FaultKind::power ? CrashKind::power : CrashKind::kill, rng);
  transport_.on_crash(node, host);
  timeline_.schedule_in(milliseconds(500) + fault.lasts, [this, &node] {
    if (!node.up() && !dead_for_good(node)) node.boot();
  });
}

void FaultInjector::kill_for_good(SimulatedNode& node) {
  dead_.insert(node.index());
  if (node.up()) crash(node, {.seed = node.index()});
}

// A partition: some nodes are cut off from the others, in both directions or in one.
void FaultInjector::partition(const Fault& fault) {
  Rng rng(fault.seed);
  const Time until = timeline_.now() + fault.lasts;
  const bool both_ways = rng.below(3) != 0;
  std::vector<bool> apart;
  for (std::size_t i = 0; i < nodes_.size(); ++i) apart.push_back(rng.below(3) == 0);
  for (std::size_t a = 0; a < nodes_.size(); ++a)
    for (std::size_t b = 0; b < nodes_.size(); ++b)
      if (apart[a] != apart[b] && (both_ways || apart[a])) transport_.network().cut(a, b, until);
  log_.trace(0, "partition");
}

// The owner stops the daemon: its threads leave, as in node/driver/driver.cc, and it ends with everything on disk.
void FaultInjector::stop(SimulatedNode& node, const Fault& fault) {
  constexpr Time kDrainTime = seconds(10);
  GW_REACHED("sim: a peer was stopped");
  stopping_ = node.index();
  const std::uint32_t slots = node.slots();
  node.set_slots(0);
  end_when_drained(node, fault, slots, timeline_.now() + kDrainTime);
}

void FaultInjector::end_when_drained(SimulatedNode& node, const Fault& fault, std::uint32_t slots, Time until) {
  if (!node.peer().hosted_jobs().empty() && timeline_.now() < until)
    return timeline_.schedule_in(milliseconds(20), [this, &node, fault, slots, until] { end_when_drained(node, fault, slots, until); });
  node.shut_down();
  transport_.on_crash(node, SimulatedTransport::Host::answers);
  node.set_slots(slots);
  timeline_.schedule_in(milliseconds(500) + fault.lasts, [this, &node] {
    stopping_.reset();
    if (!node.up()) node.boot();
  });
}

void FaultInjector::heal() {
  healed_ = true;
  transport_.network().heal();
  for (auto& node : nodes_) {
    node->pause_until(timeline_.now());
    if (!node->up() && !dead_for_good(*node)) node->boot();
    if (node->slots() != slots_) node->set_slots(slots_);
  }
  log_.trace(0, "healed");
}

}  // namespace gw::sim
