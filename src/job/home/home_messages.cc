#include "job/home/home_messages.h"

#include <algorithm>

namespace gw::job {

JobMessage claim_message(std::uint64_t claim, bool want_full, std::uint32_t slots, std::uint64_t children) {
  JobMessage message;
  message.mutable_claim()->set_claim(claim);
  message.mutable_claim()->set_want_full(want_full);
  message.mutable_claim()->set_slots(slots);
  message.mutable_claim()->set_children(children);
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
  wire::write(placed.stored, *assign.mutable_stored());
  assign.set_task(thread.task);
  for (const PeerId& keeper : thread.keepers) assign.add_keepers(keeper.bytes());
  assign.set_keeper_generation(thread.keeper_generation);
  assign.set_restore(placed.restore);
  assign.set_forked(thread.forked);
  assign.set_promoted(placed.promoted);
  if (placed.restore) assign.set_determinants(thread.determinants);
  *assign.mutable_grant() = std::move(grant);
  return message;
}

JobMessage drop_message(ThreadId id, std::uint64_t epoch) {
  JobMessage message;
  message.mutable_drop()->set_thread(id.value());
  message.mutable_drop()->set_epoch(epoch);
  return message;
}

JobMessage suspend_message(ThreadId id, std::uint64_t epoch) {
  JobMessage message;
  message.mutable_suspend()->set_thread(id.value());
  message.mutable_suspend()->set_epoch(epoch);
  return message;
}

JobMessage stored_message(ThreadId id, std::uint64_t epoch, const StreamMarks& streams, std::uint64_t children) {
  JobMessage message;
  message.mutable_stored()->set_thread(id.value());
  message.mutable_stored()->set_epoch(epoch);
  wire::write(streams, *message.mutable_stored()->mutable_streams());
  message.mutable_stored()->set_children(children);
  return message;
}

namespace {

// A spawn that an epoch of the parent has made is stored in that epoch or never.
bool is_expected(const JobMessage::KeptName& child, const ThreadTable& threads) {
  const HomeThread* parent = child.parent() == 0 ? nullptr : threads.find(ThreadId{child.parent()});
  return parent != nullptr && parent->placed() != nullptr && parent->epoch == child.epoch();
}

}  // namespace

JobMessage forget_message(const PeerId& keeper, const JobMessage::AskKept& asked, const ThreadTable& threads) {
  JobMessage message;
  for (const JobMessage::KeptName& kept : asked.threads()) {
    const HomeThread* thread = threads.find(ThreadId{kept.thread()});
    const bool keeps = thread == nullptr ? is_expected(kept, threads)
                                         : !thread->over() && (thread->kept_at(keeper) ||
                                                               (thread->placed() != nullptr && thread->placed()->target == keeper));
    if (!keeps) *message.mutable_forget()->add_threads() = kept;
  }
  return message;
}

}  // namespace gw::job
