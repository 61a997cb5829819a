#include "worker/input_pieces.h"

#include <cstring>

namespace gw::worker {

Result<isolate::InputSource::Read> InputPieces::read(std::span<std::uint8_t> buffer) {
  std::unique_lock lock(mutex_);
  if (queue_.front() == nullptr) {
    if (gate_.closed()) return Read{State::not_yet, 0};
    const auto question = queue_.take_question();
    if (!question) return Read{State::not_yet, 0};
    wire::pb::FromWorker frame;
    frame.mutable_want_input()->set_thread(gate_.thread().value());
    frame.mutable_want_input()->set_piece(*question);
    lock.unlock();  // putting may wait
    outgoing_.put(frame);
    return Read{State::not_yet, 0};
  }
  if (const std::size_t size = queue_.front()->size(); size > buffer.size())
    return fail(Kind::internal, "a piece of {} bytes does not fit into a read of {}", size, buffer.size());
  const std::string piece = queue_.take();
  gate_.on_input_taken(piece.size());
  if (piece.empty()) return Read{State::end, 0};
  std::memcpy(buffer.data(), piece.data(), piece.size());
  return Read{State::data, piece.size()};
}

void InputPieces::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, timeout, [this] { return queue_.front() != nullptr; });
}

Status InputPieces::on_piece(const wire::pb::ToWorker::Input& piece) {
  std::lock_guard lock(mutex_);
  GW_TRY_VOID(queue_.on_piece(piece.piece(), piece.bytes(), piece.end()));
  came_.notify_all();
  return ok();
}

}  // namespace gw::worker
