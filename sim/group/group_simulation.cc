#include "group/group_simulation.h"

#include <fmt/format.h>

#include "base/reached.h"

namespace gw::sim::group_simulation {

using std::chrono::milliseconds;
using std::chrono::seconds;

GroupSimulation::GroupSimulation(const Scenario& scenario, std::uint64_t seed, Trace trace)
    : scenario_(scenario), log_(timeline_, trace), rng_(seed), mix_(FaultMix::draw(rng_)), network_(mix_, Rng(rng_.next())) {
  const SimulatedMember::Environment environment{
      timeline_, log_, checks_, [this](std::size_t from, const job::GroupSend& message) { send(from, message); },
      [this](const job::GroupMember& member, std::uint64_t index) { return copies(member, index); }};
  job::GroupMembers members;
  for (std::size_t index = 0; index < scenario_.members; ++index) members.insert(SimulatedMember::id_of(index));
  for (std::size_t index = 0; index < scenario_.peers; ++index) {
    const double drift = mix_.drift_ppm * (static_cast<double>(rng_.below(2001)) / 1000 - 1) / 1e6;
    const SimulatedMember::Machine machine{index, drift, Time(static_cast<std::int64_t>(mix_.disk_ms * 1e6) + 1)};
    nodes_.push_back(std::make_unique<SimulatedMember>(environment, machine, index < scenario_.members ? members : job::GroupMembers(),
                                                       Rng(rng_.next())));
  }
}

Outcome GroupSimulation::run() {
  for (const auto& node : nodes_) node->start();
  draw_second();
  propose();
  timeline_.run_until(scenario_.fault_time, [this] { return log_.good(); });
  healed_ = true;
  network_.heal();
  run_until_whole("was healed");
  if (const SimulatedMember* last = leader(); log_.good() && scenario_.members == 3 && scenario_.peers > 3) {
    for (const auto& node : nodes_)
      if (node.get() == last) node->crash(job::kNever);
    run_until_whole("has lost its leader for ever");
  }
  log_.outcome().events = timeline_.events();
  log_.outcome().ended = timeline_.now();
  return log_.outcome();
}

void GroupSimulation::run_until_whole(const std::string& part) {
  const Time until = timeline_.now() + scenario_.heal_time;
  const std::uint64_t before = checks_.highest_committed();
  const auto is_whole = [&] { return checks_.highest_committed() > before && why_not_whole().empty(); };
  timeline_.run_until(until, [&] { return log_.good() && !is_whole(); });
  for (const auto& node : nodes_)
    if (node->up() && log_.good() && !is_whole() && log_.is_printed())
      log_.remark(static_cast<std::size_t>(&node - nodes_.data()), node->describe());
  if (log_.good() && !is_whole())
    log_.complain(Verdict::liveness, fmt::format("since the group {}: {}", part,
                                                 checks_.highest_committed() > before ? why_not_whole() : "nothing was committed"));
}

const SimulatedMember* GroupSimulation::leader() const {
  const SimulatedMember* newest = nullptr;
  for (const auto& node : nodes_)
    if (node->up() && node->member().leads() && (newest == nullptr || node->member().term() > newest->member().term())) newest = node.get();
  return newest;
}

std::string GroupSimulation::why_not_whole() const {
  const SimulatedMember* first = leader();
  if (first == nullptr) return "nobody leads";
  const job::GroupMember& member = first->member();
  if (!member.is_established() || member.log().members_index() > member.committed()) return "its leader has committed nothing yet";
  if (member.members().size() != scenario_.members) return fmt::format("it has {} members", member.members().size());
  for (const job::PeerId& id : member.members()) {
    const SimulatedMember& other = *nodes_.at(SimulatedMember::index_of(id));
    if (!other.up()) return "a member is not there";
    if (other.member().leader() != member.leader() || other.member().term() != member.term()) return "a member follows another leader";
    if (other.member().committed() + 20 < checks_.highest_committed()) return "a member lags";
  }
  return {};
}

void GroupSimulation::send(std::size_t from, const job::GroupSend& send) {
  const std::size_t to = SimulatedMember::index_of(send.to);
  std::size_t bytes = 64;
  if (const auto* entries = std::get_if<job::Replicate>(&send.message.kind)) bytes += 64 * entries->entries.size();
  for (const Time at : network_.arrivals(timeline_.now(), from, to, bytes))
    timeline_.schedule(at, [this, from, to, message = send.message] {
      if (network_.reachable(timeline_.now(), from, to)) nodes_[to]->on_message(SimulatedMember::id_of(from), message);
    });
}

std::size_t GroupSimulation::copies(const job::GroupMember& member, std::uint64_t index) const {
  const job::LogPosition at{member.log().term_at(index).value(), index};
  std::size_t copies = 0;
  for (const job::PeerId& id : member.members()) copies += nodes_.at(SimulatedMember::index_of(id))->has_on_disk(at) ? 1 : 0;
  return copies;
}

void GroupSimulation::draw_second() {
  for (const auto& node : nodes_) {
    node->tend_group(scenario_.members, scenario_.peers, scenario_.changes && !healed_, rng_);
    if (healed_) continue;
    const auto within = [this](Time longest) { return Time(rng_.below(static_cast<std::uint64_t>(longest.count()))); };
    if (chance(2 * (mix_.kill + mix_.power))) node->crash(within(seconds(20)));
    if (chance(mix_.pause)) node->pause_until(timeline_.now() + within(seconds(8)));
    if (chance(mix_.clock_jump)) node->jump_clock(within(seconds(60)));
    if (chance(mix_.clog)) network_.clog(rng_.below(nodes_.size()), rng_.below(nodes_.size()), timeline_.now() + within(seconds(5)));
  }
  if (!healed_ && chance(mix_.partition)) partition();
  timeline_.schedule_in(seconds(1), [this] { draw_second(); });
}

// Two parts, or one peer alone; messages pass in no direction or in one.
void GroupSimulation::partition() {
  GW_REACHED("sim: a group was divided");
  const Time until = timeline_.now() + Time(rng_.below(20'000'000'000));
  const bool one_way = rng_.below(3) == 0;
  const std::uint64_t side = rng_.below(2) == 0 ? rng_.next() : std::uint64_t{1} << rng_.below(nodes_.size());
  for (std::size_t from = 0; from < nodes_.size(); ++from)
    for (std::size_t to = 0; to < nodes_.size(); ++to) {
      const bool from_side = (side >> from & 1) != 0;
      if (from_side != ((side >> to & 1) != 0) && (from_side || !one_way)) network_.cut(from, to, until);
    }
}

void GroupSimulation::propose() {
  SimulatedMember& node = *nodes_[rng_.below(nodes_.size())];
  if (node.propose(fmt::format("entry {}", proposed_))) ++proposed_;
  timeline_.schedule_in(milliseconds(1 + rng_.below(100)), [this] { propose(); });
}

}  // namespace gw::sim::group_simulation
