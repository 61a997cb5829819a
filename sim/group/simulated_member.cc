#include "group/simulated_member.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/reached.h"

namespace gw::sim::group_simulation {

using job::GroupMember;
using std::chrono::milliseconds;

namespace {

// Short, so that a run has many elections.
GroupMember::Config limits(Rng& rng) {
  GroupMember::Config config;
  config.election = milliseconds(800 + rng.below(1500));
  config.heartbeat = milliseconds(150 + rng.below(200));
  config.state_retry = milliseconds(1000 + rng.below(3000));
  config.message_bytes = rng.below(2) == 0 ? 16 : 4096;
  config.log_bytes = rng.below(2) == 0 ? 2048 : 1u << 20;
  return config;
}

}  // namespace

job::PeerId SimulatedMember::id_of(std::size_t index) {
  job::PeerId id;
  id.hash.bytes[0] = static_cast<std::uint8_t>(index);
  return id;
}

SimulatedMember::SimulatedMember(const Environment& environment, const Machine& machine, const job::GroupMembers& members, Rng rng)
    : environment_(environment), machine_(machine), rng_(rng), medium_{{}, job::GroupLog({.at = {}, .members = members}), {}} {}

void SimulatedMember::start() {
  std::vector<job::LogEntry> entries;
  for (std::uint64_t index = medium_.log.base().at.index + 1; index <= medium_.log.last().index; ++index)
    entries.push_back(medium_.log.at(index));
  member_ = std::make_unique<GroupMember>(limits(rng_), id_of(machine_.index),
                                          GroupMember::Stored{medium_.ballot, job::GroupLog(medium_.log.base(), std::move(entries))}, now(),
                                          Rng(rng_.next()));
  committed_ = member_->committed();
  applying_ = {medium_.log.base().at.index, medium_.state};
  environment_.log.trace(machine_.index, "starts");
  set_timer();
}

void SimulatedMember::crash(Time down_for) {
  if (!up()) return;
  environment_.log.trace(machine_.index, "crashes");
  for (std::size_t done = rng_.below(under_way_.size() + 1); done > 0; --done) complete();
  member_.reset();
  ++boot_;
  under_way_.clear();
  waiting_.clear();
  durable_write_ = 0;
  led_ = 0;
  disk_busy_until_ = timer_at_ = Time(0);
  dead_ = down_for == job::kNever;
  if (!dead_) environment_.timeline.schedule_in(down_for, [this] { start(); });
}

bool SimulatedMember::has_on_disk(const job::LogPosition& at) const {
  return medium_.log.base().at.index >= at.index || medium_.log.term_at(at.index) == at.term;
}

std::string SimulatedMember::describe() const {
  std::string members;
  for (const job::PeerId& id : member_->members()) members += fmt::format(" {}", index_of(id));
  const auto& leader = member_->leader();
  return fmt::format("{}, term {}, leader {}, members{} since entry {}, log {} to {}, committed {}, applied {}",
                     member_->leads() ? "leads" : "follows", member_->term(), leader ? fmt::format("{}", index_of(*leader)) : "none",
                     members, member_->log().members_index(), member_->log().base().at.index, member_->log().last().index,
                     member_->committed(), member_->applied());
}

void SimulatedMember::run(std::function<void()> step) {
  if (!up()) return;
  if (paused_until_ > environment_.timeline.now())
    return environment_.timeline.schedule(paused_until_, [this, boot = boot_, step = std::move(step)] {
      if (boot == boot_) run(step);
    });
  step();
}

void SimulatedMember::on_message(const job::PeerId& from, const job::GroupMessage& message) {
  run([this, from, message] {
    job::GroupOutput out;
    member_->on_message(now(), from, message, out);
    take(std::move(out));
  });
}

bool SimulatedMember::propose(std::string content) {
  if (!up() || !member_->leads() || paused_until_ > environment_.timeline.now()) return false;
  job::GroupOutput out;
  const auto proposed = member_->propose(now(), std::move(content), out);
  if (!proposed && proposed.error().kind == Kind::overloaded) GW_REACHED("group: a leader took no more");
  take(std::move(out));
  return proposed.has_value();
}

void SimulatedMember::tend_group(std::size_t wanted, std::size_t peers, bool restless, Rng& rng) {
  if (!up() || !member_->is_established() || paused_until_ > environment_.timeline.now()) return;
  const auto is_silent = [&](const job::PeerId& id) {
    const auto heard = member_->last_heard(id);
    return heard && now() - *heard > std::chrono::seconds(5);
  };
  job::GroupMembers members = member_->members();
  job::GroupOutput out;
  const auto lost = std::ranges::find_if(members, is_silent);
  const job::PeerId one = lost != members.end() ? *lost : id_of(rng.below(peers));
  if (members.contains(one)) {
    if (members.size() > 1 && (lost != members.end() || (restless && rng.below(4) == 0))) {
      members.erase(one);
      if (member_->change_members(now(), members, out)) GW_REACHED("group: a member was removed");
    }
  } else if (members.size() >= wanted || is_silent(one)) {
    member_->remove_learner(one);
  } else if (member_->has_caught_up(one)) {
    members.insert(one);
    if (member_->change_members(now(), members, out)) GW_REACHED("group: a learner became a member");
  } else {
    member_->add_learner(now(), one);
  }
  take(std::move(out));
}

// Everything that a step of the member has put out, and what an observer sees of it.
void SimulatedMember::take(job::GroupOutput out) {
  for (job::GroupWrite& write : out.writes) submit(std::move(write));
  for (job::GroupSend& send : out.sends) {
    if (auto* state = std::get_if<job::InstallState>(&send.message.kind)) state->content = medium_.state;
    send.after_write > durable_write_ ? waiting_.push_back(std::move(send)) : environment_.send(machine_.index, send);
  }
  if (member_->leads() && led_ != member_->term()) {
    led_ = member_->term();
    environment_.log.trace(machine_.index, fmt::format("leads in term {}", led_));
    environment_.log.complain(Verdict::safety, environment_.checks.on_leader(machine_.index, *member_));
  }
  apply_committed();
  set_timer();
}

void SimulatedMember::apply_committed() {
  committed_ = std::max(committed_, member_->log().base().at.index);
  for (; committed_ < member_->committed(); ++committed_) {
    const std::uint64_t index = committed_ + 1;
    const std::size_t copies = environment_.copies(*member_, index);
    environment_.log.complain(Verdict::safety, environment_.checks.on_committed(*member_, index, copies));
  }
  if (applying_.index < member_->log().base().at.index) return;  // a state is on its way to the disk
  while (applying_.index < member_->committed()) {
    const job::LogEntry& entry = member_->log().at(++applying_.index);
    if (!entry.content.empty()) applying_.state = sha256(as_bytes(applying_.state + entry.content)).hex();
    submit(applying_);
  }
}

void SimulatedMember::submit(Operation operation) {
  under_way_.push_back(std::move(operation));
  const Time latency = Time(rng_.below(static_cast<std::uint64_t>(machine_.slowest_write.count()) + 1));
  disk_busy_until_ = std::max(disk_busy_until_, environment_.timeline.now()) + latency;
  environment_.timeline.schedule(disk_busy_until_, [this, boot = boot_] {
    if (boot != boot_) return;
    complete();
    run([this] {
      job::GroupOutput out;
      member_->on_durable(now(), durable_write_, out);
      take(std::move(out));
    });
    while (up() && !waiting_.empty() && waiting_.front().after_write <= durable_write_) {
      environment_.send(machine_.index, waiting_.front());
      waiting_.pop_front();
    }
  });
}

void SimulatedMember::complete() {
  const Operation operation = std::move(under_way_.front());
  under_way_.pop_front();
  if (const auto* applied = std::get_if<Applied>(&operation)) {
    if (applied->index <= medium_.log.base().at.index) return;  // a state came after it
    medium_.log.discard(applied->index);
    medium_.state = applied->state;
    environment_.log.complain(Verdict::safety, environment_.checks.on_state(applied->index, applied->state));
    member_->on_applied(applied->index);
    if (rng_.below(4) == 0) member_->discard(applied->index - std::min(applied->index, rng_.below(4)));
    return;
  }
  const auto& write = std::get<job::GroupWrite>(operation);
  durable_write_ = write.number;
  if (write.ballot) medium_.ballot = *write.ballot;
  if (write.state) {
    GW_REACHED("sim: a member got a state");
    medium_.log.reset(write.state->at);
    medium_.state = write.state->content;
    applying_ = {write.state->at.at.index, medium_.state};
    environment_.log.complain(Verdict::safety, environment_.checks.on_state(applying_.index, medium_.state));
  }
  if (write.truncate) medium_.log.truncate(*write.truncate);
  for (const job::LogEntry& entry : write.entries) {
    medium_.log.append(entry);
    environment_.log.complain(Verdict::safety, environment_.checks.on_entry(medium_.log, medium_.log.last().index));
  }
}

void SimulatedMember::set_timer() {
  const Time due = member_->next_deadline();
  if (due == job::kNever || due == timer_at_) return;
  timer_at_ = due;
  const Time at = Time(static_cast<std::int64_t>(static_cast<double>((due - offset_).count()) / (1 + machine_.drift))) + milliseconds(1);
  environment_.timeline.schedule(at, [this, due, boot = boot_] {
    if (boot != boot_ || timer_at_ != due) return;
    run([this] {
      timer_at_ = Time(-1);
      job::GroupOutput out;
      member_->on_tick(now(), out);
      take(std::move(out));
    });
  });
}

}  // namespace gw::sim::group_simulation
