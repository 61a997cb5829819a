#include "job/home/thread_table.h"

#include <algorithm>

namespace gw::job {
namespace {

template <class... Cases>
struct ByState : Cases... {
  using Cases::operator()...;
};

}  // namespace

std::uint32_t HomeThread::exit_code() const {
  if (const auto* ended = std::get_if<Ended>(&state)) return ended->exit_code;
  if (const auto* failed = std::get_if<Failed>(&state)) return failed->exit_code;
  return 0;
}

std::string HomeThread::sentence() const {
  if (const auto* ended = std::get_if<Ended>(&state)) return ended->sentence;
  if (const auto* failed = std::get_if<Failed>(&state)) return failed->sentence;
  return "";
}

HomeThread& ThreadTable::add(ThreadId id) {
  const auto [found, fresh] = threads_.try_emplace(id);
  GW_ASSERT(fresh);
  HomeThread& thread = found->second;
  thread.order = threads_.size();
  ready_.emplace(thread.order, id);
  return thread;
}

HomeThread& ThreadTable::add_forked(ThreadId id) {
  HomeThread& thread = add(id);
  thread.forked = true;
  ++unfinished_children_;
  return thread;
}

HomeThread* ThreadTable::find(ThreadId id) {
  const auto found = threads_.find(id);
  return found == threads_.end() ? nullptr : &found->second;
}

const HomeThread* ThreadTable::find(ThreadId id) const {
  const auto found = threads_.find(id);
  return found == threads_.end() ? nullptr : &found->second;
}

void ThreadTable::leave_state(ThreadId id, HomeThread& thread) {
  GW_ASSERT(!thread.over());
  set_due(id, kNever);
  if (thread.placed() != nullptr) {
    --placed_;
    return;
  }
  if (ready_.erase({thread.order, id}) > 0) return;
  if (const auto& accuser = std::get<HomeThread::Waiting>(thread.state).accuser) {
    const auto doubted = doubted_.find(*accuser);
    doubted->second.erase({thread.order, id});
    if (doubted->second.empty()) doubted_.erase(doubted);
    return;
  }
  for (const PeerId& keeper : thread.keepers) {
    const auto parked = parked_.find(keeper);
    parked->second.erase(id);
    if (parked->second.empty()) parked_.erase(parked);
  }
}

void ThreadTable::wait(ThreadId id) {
  HomeThread& thread = threads_.at(id);
  leave_state(id, thread);
  thread.state = HomeThread::Waiting{};
  ready_.emplace(thread.order, id);
}

void ThreadTable::park(ThreadId id, Time now) {
  HomeThread& thread = threads_.at(id);
  GW_ASSERT(!thread.keepers.empty());
  leave_state(id, thread);
  thread.state = HomeThread::Waiting{.keeper_missing = now};
  for (const PeerId& keeper : thread.keepers) parked_[keeper].insert(id);
}

void ThreadTable::doubt(ThreadId id, const PeerId& accuser) {
  HomeThread& thread = threads_.at(id);
  leave_state(id, thread);
  thread.state = HomeThread::Waiting{.accuser = accuser};
  doubted_[accuser].emplace(thread.order, id);
}

HomeThread::Placed& ThreadTable::place(ThreadId id, const PeerId& host, std::uint64_t claim, Time now) {
  HomeThread& thread = threads_.at(id);
  leave_state(id, thread);
  ++placed_;
  thread.host = host;
  return thread.state.emplace<HomeThread::Placed>(HomeThread::Placed{.host = host, .claim = claim, .since = now});
}

void ThreadTable::note_exit(const HomeThread& thread, std::uint32_t code) {
  if (!thread.forked) worst_exit_ = std::max(worst_exit_, code);
}

void ThreadTable::end(ThreadId id, HomeThread::Ended how) {
  HomeThread& thread = threads_.at(id);
  leave_state(id, thread);
  retire(id);
  ++ended_;
  note_exit(thread, how.exit_code);
  thread.state = std::move(how);
}

void ThreadTable::fail(ThreadId id, HomeThread::Failed how) {
  HomeThread& thread = threads_.at(id);
  leave_state(id, thread);
  retire(id);
  ++failed_;
  note_exit(thread, how.exit_code);
  worst_exit_ = std::max(worst_exit_, 1u);
  thread.state = std::move(how);
}

void ThreadTable::begin_anew(ThreadId id) {
  HomeThread& thread = threads_.at(id);
  thread.bad_keepers = thread.keepers;
  set_keepers(id, {});
  thread.kept = false;
  thread.faults.clear();
  thread.fault_reports = 0;
}

void ThreadTable::run_again(ThreadId id, const PeerId& host) {
  wait(id);
  begin_anew(id);
  avoid(id, host);
  HomeThread& thread = threads_.at(id);
  thread.bad_keepers.clear();  // they have lost nothing
  thread.determinants = 0;
  thread.placed_first = thread.ran = Time(0);
  ++thread.failed_runs;
}

void ThreadTable::avoid(ThreadId id, const PeerId& host) {
  std::vector<PeerId>& avoid = threads_.at(id).avoid;
  std::erase(avoid, host);
  avoid.push_back(host);
  if (avoid.size() > kAvoided) avoid.erase(avoid.begin());
}

void ThreadTable::set_keepers(ThreadId id, std::vector<PeerId> keepers) {
  HomeThread& thread = threads_.at(id);
  for (const PeerId& keeper : thread.keepers) {
    const auto before = kept_by_.find(keeper);
    if (before == kept_by_.end()) continue;
    before->second.erase(id);
    if (before->second.empty()) kept_by_.erase(before);
  }
  thread.keepers = std::move(keepers);
  for (const PeerId& keeper : thread.keepers) kept_by_[keeper].insert(id);
}

const std::set<ThreadId>* ThreadTable::kept_by(const PeerId& keeper) const {
  const auto found = kept_by_.find(keeper);
  return found == kept_by_.end() ? nullptr : &found->second;
}

// The thread is over: it leaves the index of its keepers, but their ids stay for display.
void ThreadTable::retire(ThreadId id) {
  if (threads_.at(id).forked) --unfinished_children_;
  std::vector<PeerId> keepers = threads_.at(id).keepers;
  set_keepers(id, {});
  threads_.at(id).keepers = std::move(keepers);
}

void ThreadTable::set_due(ThreadId id, Time at) {
  HomeThread& thread = threads_.at(id);
  due_.erase({thread.due, id});
  thread.due = at;
  if (at != kNever) due_.emplace(at, id);
}

void ThreadTable::set_kept_due(const PeerId& keeper, Time at) {
  const std::set<ThreadId>* kept = kept_by(keeper);
  if (kept == nullptr) return;
  for (const ThreadId id : *kept)
    if (threads_.at(id).placed() != nullptr) set_due(id, at);
}

std::optional<ThreadId> ThreadTable::take_due(Time now) {
  if (due_.empty() || due_.begin()->first > now) return std::nullopt;
  const ThreadId id = due_.begin()->second;
  set_due(id, kNever);
  return id;
}

wire::pb::ThreadRecord record_of(const HomeThread& thread, std::uint32_t slots) {
  wire::pb::ThreadRecord record;
  record.set_epoch(thread.epoch);
  record.set_task(thread.task);
  record.set_forked(thread.forked);
  record.set_failures(thread.failures);
  record.set_attempts(thread.failed_runs);
  record.set_placed_at_ns(static_cast<std::uint64_t>(thread.placed_first.count()));
  record.set_ran_ns(static_cast<std::uint64_t>(thread.ran.count()));
  record.set_placed_here_at_ns(static_cast<std::uint64_t>(thread.started_here.count()));
  record.set_resumed(thread.resumed);
  record.set_restarted(thread.restarted);
  record.set_placed_again(thread.placed_again);
  record.set_keeper_generation(thread.keeper_generation);
  record.set_restore(thread.kept);
  record.set_determinants(thread.determinants);
  for (const PeerId& keeper : thread.keepers) record.add_keepers(keeper.bytes());
  if (thread.host) record.set_host(thread.host->bytes());
  record.set_exit_code(thread.exit_code());
  record.set_sentence(thread.sentence());
  std::visit(ByState{[&](const HomeThread::Waiting&) { record.set_state(wire::pb::ThreadRecord::WAITING); },
                     [&](const HomeThread::Placed& placed) {
                       record.set_state(wire::pb::ThreadRecord::PLACED);
                       record.set_claim(placed.claim);
                       record.set_slots(slots);
                     },
                     [&](const HomeThread::Ended&) { record.set_state(wire::pb::ThreadRecord::ENDED); },
                     [&](const HomeThread::Failed&) { record.set_state(wire::pb::ThreadRecord::FAILED); }},
             thread.state);
  return record;
}

std::uint32_t exit_code_of(const wire::pb::Effect::End& end) {
  constexpr std::uint32_t kFailed = 1, kLimitReached = 5;
  if (end.reason() == wire::pb::Effect::End::EXITED) return end.exit_code();
  return end.reason() == wire::pb::Effect::End::LIMIT ? kLimitReached : kFailed;
}

}  // namespace gw::job
