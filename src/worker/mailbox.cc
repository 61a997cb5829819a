#include "worker/mailbox.h"

namespace gw::worker {
namespace {

isolate::MailItem item_of(const wire::pb::Mail& mail) {
  isolate::MailItem item{.from = mail.from(), .tag = mail.tag(), .bytes = mail.bytes(), .is_notice = mail.is_notice()};
  if (!item.is_notice) return item;
  wire::pb::Effect::End end;
  const bool readable = end.ParseFromString(mail.bytes());
  item.exit_code = readable ? end.exit_code() : 1;
  item.bytes = readable ? end.sentence() : "its end cannot be read";
  return item;
}

}  // namespace

const isolate::MailItem* Mailbox::front() {
  if (item_) return &*item_;
  {
    std::lock_guard lock(mutex_);
    if (queue_.front() != nullptr) return &item_.emplace(item_of(queue_.take()));
  }
  if (!gate_.closed()) tell(Guest::reads);
  return nullptr;
}

void Mailbox::tell(Guest guest) {
  wire::pb::FromWorker frame;
  {
    std::lock_guard lock(mutex_);
    if (!queue_.tell(guest)) return;
    frame.mutable_want_mail()->set_next(queue_.next());
  }
  frame.mutable_want_mail()->set_thread(gate_.thread().value());
  frame.mutable_want_mail()->set_waits(guest == Guest::waits);
  outgoing_.put(frame);  // may wait, so without the lock
}

void Mailbox::take() {
  item_.reset();
  gate_.on_mail_taken();
}

void Mailbox::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, timeout, [this] { return queue_.front() != nullptr; });
}

Status Mailbox::on_mails(const wire::pb::ToWorker::Mails& frame) {
  std::lock_guard lock(mutex_);
  GW_TRY_VOID(queue_.on_mails(frame.first(), frame.mails()));
  came_.notify_all();
  return ok();
}

}  // namespace gw::worker
