#include "job/home_messages.h"

#include <algorithm>

namespace gw::job {

JobMessage reserve_message(const Charter& charter, std::uint32_t slots) {
  JobMessage message;
  *message.mutable_reserve()->mutable_charter() = charter.signed_charter();
  message.mutable_reserve()->set_slots(slots);
  return message;
}

JobMessage claim_message(std::uint64_t claim) {
  JobMessage message;
  message.mutable_claim()->set_claim(claim);
  return message;
}

JobMessage release_message(std::uint64_t claim) {
  JobMessage message;
  message.mutable_release()->set_claim(claim);
  return message;
}

JobMessage assign_message(ThreadId id, const HomeThread& thread, wire::pb::SignedGrant grant) {
  const HomeThread::Placed& placed = *thread.placed();
  JobMessage message;
  JobMessage::Assign& assign = *message.mutable_assign();
  assign.set_claim(placed.claim);
  assign.set_thread(id.value());
  assign.set_epoch(thread.epoch);
  assign.set_stored(placed.stored);
  assign.set_task(thread.task);
  assign.set_keeper(thread.keeper->bytes());
  assign.set_keeper_generation(thread.keeper_generation);
  assign.set_restore(placed.restore);
  assign.set_forked(thread.forked);
  *assign.mutable_grant() = std::move(grant);
  return message;
}

JobMessage drop_message(ThreadId id, std::uint64_t epoch) {
  JobMessage message;
  message.mutable_drop()->set_thread(id.value());
  message.mutable_drop()->set_epoch(epoch);
  return message;
}

JobMessage stored_message(ThreadId id, std::uint64_t epoch, std::uint64_t sequence) {
  JobMessage message;
  message.mutable_stored()->set_thread(id.value());
  message.mutable_stored()->set_epoch(epoch);
  message.mutable_stored()->set_sequence(sequence);
  return message;
}

JobMessage input_message(ThreadId id, std::uint64_t epoch, std::uint64_t piece, const std::string& bytes) {
  JobMessage message;
  JobMessage::Input& input = *message.mutable_input();
  input.set_thread(id.value());
  input.set_epoch(epoch);
  input.set_piece(piece);
  input.set_bytes(bytes);
  return message;
}

JobMessage forget_message(const PeerId& keeper, const JobMessage::AskKept& asked, const ThreadTable& threads) {
  JobMessage message;
  for (const JobMessage::KeptName& kept : asked.threads()) {
    const HomeThread* thread = threads.find(ThreadId{kept.thread()});
    if (thread == nullptr) continue;  // a child whose fork is still to come
    const bool keeps = thread->keeper == keeper || (thread->placed() != nullptr && thread->placed()->target == keeper);
    if (thread->over() || !keeps) *message.mutable_forget()->add_threads() = kept;
  }
  return message;
}

const JobMessage::Effects::Child* forked_in(const JobMessage::Effects& message, ThreadId child) {
  const auto found = std::ranges::find(message.children(), child.value(), &JobMessage::Effects::Child::thread);
  return found == message.children().end() ? nullptr : &*found;
}

}  // namespace gw::job
