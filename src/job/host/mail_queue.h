#pragma once
// The messages to one thread, between its parent, who sends them, and the guest, who reads them.

#include <cstdint>
#include <deque>

#include "base/result.h"
#include "wire/messages/worker_frames.h"

namespace gw::job {

// Numbered items, which are read in order, each once. The parent may be asked twice for the same ones, first in passing and then because
// the guest waits, and answers twice: what is here already is left out.
//
// Limit: kMaxUnread. A value without locks or I/O.
class MailQueue {
 public:
  static constexpr std::size_t kMaxUnread = 4 * wire::kMaxMails;

  // `next`: number of the first item that this run of the thread will read.
  explicit MailQueue(std::uint64_t next) : next_(next) {}

  // The next item; nullptr: it is not here.
  const wire::pb::Mail* front() const { return unread_.empty() ? nullptr : &unread_.front(); }
  // REQUIRES: front() is not null.
  wire::pb::Mail take() {
    wire::pb::Mail mail = std::move(unread_.front());
    unread_.pop_front();
    return mail;
  }
  // The number of the item that comes next.
  std::uint64_t next() const { return next_; }
  // Whether the parent has to be told what the guest wants; and that it was.
  enum class Guest : std::uint8_t { reads, waits, goes_on };
  bool tell(Guest guest) {
    if (guest == Guest::reads) return !std::exchange(asked_, true);
    const bool waits = guest == Guest::waits;
    return asked_ && std::exchange(told_waits_, waits) != waits;
  }
  // Kind::invalid: some are missing before them, or too many are unread.
  Status on_mails(std::uint64_t first, const google::protobuf::RepeatedPtrField<wire::pb::Mail>& mails) {
    if (first > next_) return fail(Kind::invalid, "messages from {} on came where {} is next", first, next_);
    for (const wire::pb::Mail& mail : mails) {
      if (first++ < next_) continue;
      if (unread_.size() >= kMaxUnread) return fail(Kind::invalid, "more than {} messages came that nobody has asked for", kMaxUnread);
      unread_.push_back(mail);
      ++next_;
      asked_ = told_waits_ = false;
    }
    return ok();
  }

 private:
  std::deque<wire::pb::Mail> unread_;
  std::uint64_t next_;
  bool asked_ = false;
  bool told_waits_ = false;
};

}  // namespace gw::job
