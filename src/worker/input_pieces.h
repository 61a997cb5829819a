#pragma once
// Standard input of one virtual thread, as it comes in from the parent.

#include <condition_variable>
#include <mutex>

#include "isolate/wasi/stdio.h"
#include "job/host/input_queue.h"
#include "worker/outgoing_frames.h"
#include "worker/thread_gate.h"

namespace gw::worker {

// A job::InputQueue with a lock. The guest takes each piece as a whole, so that what a read returns does not depend on when pieces came,
// and the gate counts them. Asks the parent for a piece when the guest wants it and it is not here; not for a task, whose gate is closed.
class InputPieces final : public isolate::InputSource {
 public:
  InputPieces(ThreadGate& gate, OutgoingFrames& outgoing) : gate_(gate), outgoing_(outgoing), queue_(gate.input_pieces()) {}

  // The pool thread.
  Result<Read> read(std::span<std::uint8_t> buffer) override;
  void wait(std::chrono::milliseconds timeout) override;

  // The loop. Kind::invalid as of InputQueue::on_piece().
  Status on_piece(const wire::pb::ToWorker::Input& piece);

 private:
  ThreadGate& gate_;
  OutgoingFrames& outgoing_;
  std::mutex mutex_;
  std::condition_variable came_;
  job::InputQueue queue_;  // guarded by mutex_
};

}  // namespace gw::worker
