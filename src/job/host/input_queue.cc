#include "job/host/input_queue.h"

#include <utility>

namespace gw::job {

std::string InputQueue::take() {
  std::string piece = std::move(unread_.front());
  unread_.pop_front();
  return piece;
}

std::optional<std::uint64_t> InputQueue::take_question() {
  if (!unread_.empty() || std::exchange(asked_, true)) return std::nullopt;
  return next_;
}

Status InputQueue::on_piece(std::uint64_t number, std::string bytes, bool end) {
  if (ended_) return fail(Kind::invalid, "input piece {} came after the end", number);
  if (number != next_) return fail(Kind::invalid, "input piece {} came where {} was expected", number, next_);
  if (unread_.size() >= kMaxUnread) return fail(Kind::invalid, "{} input pieces are unread already", unread_.size());
  unread_.push_back(std::move(bytes));
  ++next_;
  ended_ = end;
  asked_ = false;
  return ok();
}

}  // namespace gw::job
