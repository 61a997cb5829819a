#include "worker/input_pieces.h"

#include <cstring>

namespace gw::worker {

Result<isolate::InputSource::Read> InputPieces::read(std::span<std::uint8_t> buffer) {
  std::unique_lock lock(mutex_);
  if (unread_.empty()) {
    if (asked_) return Read{State::not_yet, 0};
    asked_ = true;
    wire::pb::FromWorker frame;
    frame.mutable_want_input()->set_thread(thread_);
    frame.mutable_want_input()->set_piece(next_number_);
    lock.unlock();  // putting may wait
    outgoing_.put(frame);
    return Read{State::not_yet, 0};
  }
  const std::string piece = std::move(unread_.front());
  if (piece.size() > buffer.size())
    return fail(Kind::internal, "a piece of {} bytes does not fit into a read of {}", piece.size(), buffer.size());
  unread_.pop_front();
  gate_.on_input_taken(piece.size());
  if (piece.empty()) return Read{State::end, 0};
  std::memcpy(buffer.data(), piece.data(), piece.size());
  return Read{State::data, piece.size()};
}

void InputPieces::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, timeout, [this] { return !unread_.empty(); });
}

Status InputPieces::on_piece(const wire::pb::ToWorker::Input& piece) {
  std::lock_guard lock(mutex_);
  if (piece.piece() != next_number_ || ended_)
    return fail(Kind::invalid, "input piece {} of thread {} came, {} was expected", piece.piece(), thread_,
                ended_ ? "none" : std::to_string(next_number_));
  if (unread_.size() >= kMaxUnread) return fail(Kind::invalid, "thread {} has {} unread input pieces already", thread_, unread_.size());
  unread_.push_back(piece.bytes());
  next_number_++;
  ended_ = piece.end();
  asked_ = false;
  came_.notify_all();
  return ok();
}

}  // namespace gw::worker
