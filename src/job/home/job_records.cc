#include "job/home/job_records.h"

#include "base/reached.h"

namespace gw::job {

std::string JobRecords::key(RecordKind kind, ThreadId thread) const {
  return RecordKey{.kind = kind, .job = environment_.charter.id(), .thread = thread}.encode();
}

wire::pb::JobRecord JobRecords::record() const {
  wire::pb::JobRecord record = record_of(progress_, environment_.manifest, environment_.threads, environment_.tasks, environment_.counters);
  if (environment_.charter.key().empty()) return record;
  record.set_key(environment_.charter.key());
  record.set_submitter(wire::bytes_of(environment_.charter.submitter()));
  return record;
}

void JobRecords::begin(Time now, const Submitted& submitted, Actions& out) {
  progress_.submitted_at = now;
  wire::pb::JobRecord record = this->record();
  record.set_charter(environment_.charter.bytes());
  record.set_manifest(std::string(as_text(submitted.manifest)));
  record.set_row_inputs(std::string(as_text(submitted.row_inputs)));
  out.record(key(RecordKind::job), record.SerializeAsString());
  out.after_disk(Notify{JobAccepted{environment_.charter.id()}});
}

void JobRecords::recover(Time submitted_at, const std::vector<StoredEffect>& effects) {
  progress_.submitted_at = submitted_at;
  for (const StoredEffect& effect : effects) {
    output_.add(effect);
    progress_.retried += effect.kind == EffectKind::attempt ? 1 : 0;
  }
  progress_.stored_bytes = output_.stored_bytes();
}

void JobRecords::write(ThreadId id, Actions& out) const {
  const HomeThread& thread = environment_.threads.at(id);
  const Claim* claim = thread.placed() != nullptr ? environment_.claims.find(thread.placed()->host) : nullptr;
  out.record(key(RecordKind::thread, id), record_of(thread, claim != nullptr ? claim->slots : 0).SerializeAsString());
}

void JobRecords::on_taken(ThreadId id, HomeThread& thread, RecoveryCounters::From from, Actions& out) {
  const bool from_image = from == RecoveryCounters::From::image;
  const PeerId host = thread.placed()->host;
  ++(from_image ? thread.resumed : thread.restarted);
  environment_.counters.on_taken(host, from);
  write(id, out);
  if (from_image) {
    GW_REACHED("home: a thread was resumed");
    return out.after_disk(Notify{ThreadResumed{environment_.charter.id(), id, thread.epoch, host}});
  }
  GW_REACHED("home: a thread was restarted");
  out.after_disk(Notify{ThreadRestarted{environment_.charter.id(), id, thread.epoch, host}});
}

void JobRecords::append(EffectEntry entry, Actions& out) {
  output_.add(entry.header);
  progress_.retried += entry.header.kind == EffectKind::attempt ? 1 : 0;
  progress_.stored_bytes = output_.stored_bytes();
  out.append(environment_.charter.id(), std::move(entry));
}

void JobRecords::append_attempt(ThreadId id, const Effect& end, const EndFacts& facts, Actions& out) {
  append(attempt_entry(end, facts), out);
  write(id, out);
  out.after_disk(Notify{RunRepeated{environment_.charter.id(), id, facts.host, end.end()}});
}

void JobRecords::end_turn(Actions& out) {
  if (environment_.counters.take_changed()) write_counters(out);
}

void JobRecords::write_alive(Time now, Actions& out) {
  alive_at_ = now;
  write_counters(out);
}

void JobRecords::write_counters(Actions& out) const {
  wire::pb::RecoveryCountersRecord record = environment_.counters.record();
  record.set_alive_at_ns(static_cast<std::uint64_t>(alive_at_.count()));
  record.set_most_slots(environment_.losses.recorded());
  out.record(key(RecordKind::counters), record.SerializeAsString());
}

void JobRecords::end(Time now, wire::pb::JobRecord::State state, std::string failure, Actions& out) {
  progress_.state = state;
  progress_.failure = std::move(failure);
  progress_.ended_at = now;
  EffectEntry details = details_of(record(), environment_.manifest, environment_.threads, environment_.tasks, environment_.counters);
  progress_.details_bytes = details.header.bytes;
  append(std::move(details), out);
  out.record(key(RecordKind::job), record().SerializeAsString());
  for (const auto& [id, thread] : environment_.threads.all()) out.record(key(RecordKind::thread, id), std::nullopt);
  for (const TaskSpan& span : environment_.tasks.failed_tasks().spans())
    for (std::uint32_t i = 0; i < span.count; ++i)
      out.record(key(RecordKind::thread, environment_.manifest.thread_of(span.first + i)), std::nullopt);
  out.record(key(RecordKind::counters), std::nullopt);
  out.after_disk(Notify{over_of(environment_.charter.id(), record())});
}

}  // namespace gw::job
