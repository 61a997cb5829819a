#pragma once
// The messages to one virtual thread, as they come in from the parent.

#include <condition_variable>
#include <mutex>
#include <optional>

#include "isolate/thread_host.h"
#include "job/host/mail_queue.h"
#include "worker/outgoing_frames.h"
#include "worker/thread_gate.h"

namespace gw::worker {

// A job::MailQueue with a lock, whose items the gate counts when they are taken. Asks the parent for more when the guest wants one and none
// is here, and says whether the guest waits; not for a task, whose gate is closed. What was not read is not in an image: it is asked for
// again.
class Mailbox {
 public:
  using Guest = job::MailQueue::Guest;

  Mailbox(ThreadGate& gate, OutgoingFrames& outgoing) : gate_(gate), outgoing_(outgoing), queue_(gate.mail()) {}

  // --- the pool thread

  // The next item; null: it is not here. It stays where it is until it is taken.
  const isolate::MailItem* front();
  // REQUIRES: there is one.
  void take();
  // The guest is parked until the next item is there, or goes on without.
  void tell(Guest guest);
  // Until there is an item, at most so long.
  void wait(std::chrono::milliseconds timeout);

  // --- the loop

  // Kind::invalid as of MailQueue::on_mails().
  Status on_mails(const wire::pb::ToWorker::Mails& frame);

 private:
  ThreadGate& gate_;
  OutgoingFrames& outgoing_;
  std::optional<isolate::MailItem> item_;  // the next one, as the guest sees it; the pool thread's
  std::mutex mutex_;
  std::condition_variable came_;
  job::MailQueue queue_;  // guarded by mutex_
};

}  // namespace gw::worker
