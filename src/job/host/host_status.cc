#include "job/host/host_status.h"

namespace gw::job {

JobMessage::Status HostStatus::next() {
  JobMessage::Status status;
  status.set_claim(claim_.claim);
  status.set_number(++number_);
  status.set_failure(failure_);
  status.set_slots(claim_.slots);
  status.set_progress(progress_);
  status.set_draining(draining_);
  return status;
}

void HostStatus::add(Time now, const HostedThread& thread, JobMessage::Status& status) {
  JobMessage::Status::Held& held = *status.add_held();
  held.set_thread(thread.id().value());
  held.set_epoch(thread.epoch());
  held.set_start_state(thread.start_state());
  if (const auto stalled = thread.stalled(now)) held.set_stalled_keeper(stalled->bytes());
  if (thread.source()) held.set_restored_from(thread.source()->bytes());
}

void HostStatus::send(JobMessage::Status status, Actions& out) const {
  JobMessage message;
  *message.mutable_status() = std::move(status);
  out.send(claim_.home, claim_.job, std::move(message));
}

void HostStatus::send_held(Time now, const HostedThread& thread, Actions& out) {
  JobMessage::Status status = next();
  add(now, thread, status);
  send(std::move(status), out);
}

void HostStatus::send_gone(ThreadId id, std::uint64_t epoch, Actions& out, Gone why) {
  JobMessage::Status status = next();
  JobMessage::Status::Held& gone = *status.add_held();
  gone.set_thread(id.value());
  gone.set_epoch(epoch);
  gone.set_start_state(JobMessage::GONE);
  gone.set_no_room(why == Gone::no_room);
  send(std::move(status), out);
}

void HostStatus::send_failed(ThreadId id, std::uint64_t epoch, const std::string& sentence, Actions& out, Fault fault) const {
  JobMessage message;
  JobMessage::ThreadName& name = *message.mutable_thread_failed();
  name.set_thread(id.value());
  name.set_epoch(epoch);
  name.set_failure(sentence.substr(0, 4096));
  name.set_kept_state_bad(fault == Fault::kept_state);
  out.send(claim_.home, claim_.job, std::move(message));
}

void HostStatus::send_suspended(const HostedThread& thread, Actions& out) const {
  JobMessage message;
  message.mutable_suspended()->set_thread(thread.id().value());
  message.mutable_suspended()->set_epoch(thread.epoch());
  out.send(claim_.home, claim_.job, std::move(message));
}

}  // namespace gw::job
