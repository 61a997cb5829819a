#pragma once
// The standard input of one thread, between its parent, who sends pieces, and the guest, who reads them.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/result.h"

namespace gw::job {

// Numbered pieces, which come in order and are read in order, each as a whole. A piece is asked for once, when the guest wants it.
//
// Limit: kMaxUnread. A value without locks or I/O.
class InputQueue {
 public:
  static constexpr std::size_t kMaxUnread = 64;

  // `next`: number of the first piece that this run of the thread will read.
  explicit InputQueue(std::uint64_t next) : next_(next) {}

  // The next piece; nullptr: it is not here. An empty one is the end.
  const std::string* front() const { return unread_.empty() ? nullptr : &unread_.front(); }
  // REQUIRES: front() is not null.
  std::string take();
  // Which piece has to be asked for, if it is not here and was not asked for yet.
  std::optional<std::uint64_t> take_question();
  // Kind::invalid if it is not the next piece, comes after the end, or too many are unread.
  Status on_piece(std::uint64_t number, std::string bytes, bool end);

 private:
  std::deque<std::string> unread_;
  std::uint64_t next_;  // of the piece that comes next
  bool ended_ = false;  // the last piece is here
  bool asked_ = false;  // for the next one
};

}  // namespace gw::job
