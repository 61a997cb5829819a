#include "job/home/home_recovery.h"

#include "base/reached.h"

namespace gw::job {

Status HomeRecovery::run() {
  GW_TRY_VOID(recover_tasks());
  GW_TRY_VOID(recover_effects());
  std::vector<ThreadId> ids;
  for (const auto& [id, thread] : parts_.threads.all()) ids.push_back(id);
  for (const ThreadId id : ids) GW_TRY_VOID(recover_thread(id));
  for (const auto& [id, mark] : records_.mail_marks) GW_TRY_VOID(parts_.ledger.restore_mail(id, mark.epoch(), mark.sequence()));
  return ok();
}

// A task of an array has a record if it failed, which never was in an epoch, or became a thread.
Status HomeRecovery::recover_tasks() {
  if (parts_.tasks.size() == 0) return ok();
  for (const auto& [id, record] : records_.threads) {
    const std::optional<std::uint32_t> task = task_of_thread(id, parts_.tasks.size());
    if (!task) continue;
    if (parts_.tasks.state(*task) != TaskTable::State::waiting)
      return fail(Kind::corrupt, "task {} has a record and is not part of the job", *task);
    parts_.tasks.recover(*task);
    if (record.epoch() == 0) {
      TaskFailure failure{.exit_code = record.exit_code(), .sentence = record.sentence()};
      if (!record.host().empty()) failure.host = PeerId::from(record.host());
      parts_.tasks.fail(*task, std::move(failure));
      continue;
    }
    parts_.tasks.promote(*task);
    GW_TRY_VOID(parts_.ledger.add(id));
    parts_.threads.add(id).task = *task;
  }
  return ok();
}

// Whether the effect is part of the result of a task that was no thread. All effects of a result were stored together.
bool HomeRecovery::recover_result(const StoredEffect& effect) {
  if (parts_.tasks.size() == 0 || parts_.threads.find(effect.thread) != nullptr) return false;
  const std::optional<std::uint32_t> task = task_of_thread(effect.thread, parts_.tasks.size());
  if (!task) return false;
  if (parts_.tasks.state(*task) != TaskTable::State::waiting) return true;
  if (effect.kind == EffectKind::attempt) parts_.tasks.recover_failed_run(*task);
  if (effect.kind == EffectKind::end) parts_.tasks.end(parts_.tasks.recover(*task));
  return true;
}

// Children are known from the effects of their parents, which were stored before their own.
Status HomeRecovery::recover_effects() {
  std::map<std::uint64_t, std::uint64_t> finished;  // by host
  for (const StoredEffect& effect : records_.effects) {
    if (effect.kind == EffectKind::end && parts_.tasks.size() > 0) ++finished[effect.host];
    if (recover_result(effect)) continue;
    if (effect.kind == EffectKind::attempt) {
      if (!parts_.ledger.knows(effect.thread)) return fail(Kind::corrupt, "a run of thread {} is stored before it", effect.thread.value());
      parts_.ledger.begin_again(effect.thread);
      continue;
    }
    GW_TRY_VOID(parts_.ledger.restore(effect));
    if (effect.kind != EffectKind::spawn) continue;
    const ThreadId child = child_of(effect.thread, effect.sequence);
    if (!records_.threads.contains(child)) return fail(Kind::corrupt, "the record of thread {} is lost", child.value());
    parts_.threads.add_forked(child);
  }
  parts_.counters.recover_finished(finished);
  return ok();
}

Status HomeRecovery::recover_thread(ThreadId id) {
  const auto found = records_.threads.find(id);
  if (found == records_.threads.end()) return ok();  // never placed
  const wire::pb::ThreadRecord& record = found->second;
  HomeThread& thread = parts_.threads.at(id);
  thread.epoch = record.epoch();
  thread.failures = record.failures();
  thread.failed_runs = record.attempts();
  thread.placed_first = Time(static_cast<std::int64_t>(record.placed_at_ns()));
  thread.ran = Time(static_cast<std::int64_t>(record.ran_ns()));
  thread.started_here = Time(static_cast<std::int64_t>(record.placed_here_at_ns()));
  thread.resumed = record.resumed();
  thread.restarted = record.restarted();
  thread.placed_again = record.placed_again();
  thread.determinants = record.determinants();
  thread.keeper_generation = record.keeper_generation();
  thread.kept = record.restore();
  if (!record.host().empty()) thread.host = PeerId::from(record.host());
  std::vector<PeerId> keepers;
  for (const std::string& keeper : record.keepers()) keepers.push_back(PeerId::from(keeper));
  for (const PeerId& keeper : keepers) parts_.roster.add_keeper(keeper);
  parts_.threads.set_keepers(id, std::move(keepers));
  const bool was_placed = record.state() == wire::pb::ThreadRecord::PLACED || record.state() == wire::pb::ThreadRecord::ENDED;
  if (was_placed && !thread.host) return fail(Kind::corrupt, "the record of thread {} has no host", id.value());
  if (thread.kept && thread.keepers.empty()) return fail(Kind::corrupt, "the record of thread {} has no keeper", id.value());
  if (thread.epoch > 0) GW_TRY_VOID(parts_.ledger.adopt(id, thread.epoch));
  if (record.state() == wire::pb::ThreadRecord::PLACED) return recover_place(id, record);
  if (record.state() == wire::pb::ThreadRecord::ENDED) parts_.threads.end(id, {record.exit_code(), record.sentence()});
  if (record.state() == wire::pb::ThreadRecord::FAILED) parts_.threads.fail(id, {record.exit_code(), record.sentence()});
  const bool exited = thread.host && thread.over() && record.sentence().empty();
  if (exited && parts_.tasks.size() == 0) parts_.counters.on_finished(*thread.host);
  return ok();
}

Status HomeRecovery::recover_place(ThreadId id, const wire::pb::ThreadRecord& record) {
  const PeerId host = PeerId::from(record.host());
  parts_.roster.add_host(host);
  if (parts_.claims.find(host) == nullptr) {
    parts_.claims.add(host, {.claim = record.claim(),
                             .slots = record.slots(),
                             .since = now_,
                             .last_seen = now_,
                             .renew_at = now_,
                             .idle_since = now_,
                             .progress_at = now_,
                             .seen_at = now_});
    // The threads of a claim that drained are recorded with the slots it had. Others may have taken its place since.
    if (parts_.claims.slots() > parts_.manifest.content().policy().slots()) {
      GW_REACHED("home: more claims are recorded than the job wants");
      parts_.claims.drain(host);
    }
  }
  if (parts_.claims.find(host)->claim != record.claim()) return fail(Kind::corrupt, "two claims at peer {} are recorded", host.brief());
  parts_.claims.attach(host, id);
  // The thread may have run at this host: if the host does not have it any more, its epoch is used up.
  HomeThread::Placed& placed = parts_.threads.place(id, host, record.claim(), now_);
  placed.acknowledged = true;
  placed.restore = record.restore();
  parts_.threads.set_due(id, now_);
  return ok();
}

}  // namespace gw::job
