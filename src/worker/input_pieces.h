#pragma once
// Standard input of one virtual thread, as it comes in from the parent.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>

#include "isolate/wasi/stdio.h"
#include "worker/outgoing_frames.h"
#include "worker/thread_gate.h"

namespace gw::worker {

// Numbered pieces; the guest takes each as a whole, so that what a read returns does not depend on when pieces came, and the gate counts
// them. Asks the parent for a piece when the guest wants it and it is not here.
class InputPieces final : public isolate::InputSource {
 public:
  static constexpr std::size_t kMaxUnread = 64;

  InputPieces(std::uint64_t thread, ThreadGate& gate, OutgoingFrames& outgoing)
      : thread_(thread), gate_(gate), outgoing_(outgoing), next_number_(gate.input_pieces()) {}

  // The pool thread.
  Result<Read> read(std::span<std::uint8_t> buffer) override;
  void wait(std::chrono::milliseconds timeout) override;

  // The loop. Kind::invalid if it is not the next piece, or too many are unread.
  Status on_piece(const wire::pb::ToWorker::Input& piece);

 private:
  const std::uint64_t thread_;
  ThreadGate& gate_;
  OutgoingFrames& outgoing_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::string> unread_;  // guarded by mutex_, like all below; an empty one is the end
  std::uint64_t next_number_;       // of the piece that comes next
  bool ended_ = false;              // the last piece is here
  bool asked_ = false;              // for it
};

}  // namespace gw::worker
