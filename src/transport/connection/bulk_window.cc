#include "transport/connection/bulk_window.h"

#include <algorithm>
#include <optional>

namespace gw::transport {
namespace {

constexpr std::size_t kMarkBytes = 32u << 10;

}  // namespace

void BulkWindow::on_sent(Time now, std::size_t bytes) {
  sent_ += bytes;
  if (marks_.empty() || sent_ - marks_.back().sent >= kMarkBytes) marks_.push_back({sent_, now});
}

Status BulkWindow::on_credit(Time now, std::uint64_t taken) {
  if (taken > sent_) return fail(Kind::invalid, "it says that it took {} bytes of bulk, of {} that were sent", taken, sent_);
  if (taken < taken_) return fail(Kind::invalid, "it says that it took {} bytes of bulk, after it said {}", taken, taken_);
  const bool was_full = in_flight() * 2 >= window_;
  const auto credited = static_cast<std::size_t>(taken - taken_);
  taken_ = taken;
  std::optional<Time> sent_at;
  for (; !marks_.empty() && marks_.front().sent <= taken; marks_.pop_front()) sent_at = marks_.front().at;
  // A window that is not used says nothing about whether it is too small.
  if (sent_at && was_full) adapt(now, now - *sent_at, credited);
  return ok();
}

void BulkWindow::adapt(Time now, Delay delay, std::size_t credited) {
  if (now >= renew_at_) {
    renew_at_ = now + config_.renewal;
    shortest_ = delay;
    window_ = config_.least;
  }
  shortest_ = std::min(shortest_, delay);
  const Delay tolerated = std::max<Delay>(config_.queueing, shortest_ / 4);
  if (delay <= shortest_ + tolerated) {
    window_ = std::min(config_.most, window_ + credited);
  } else if (now - delay >= shrink_after_) {
    window_ = std::max(config_.least, window_ - window_ / 4);
    shrink_after_ = now;
  }
}

}  // namespace gw::transport
