#include "transport/connection/liveness.h"

#include <algorithm>

namespace gw::transport {
namespace {

bool past(const std::optional<Time>& deadline, Time now) { return deadline && *deadline <= now; }

void earlier(Time& first, const std::optional<Time>& deadline) {
  if (deadline) first = std::min(first, *deadline);
}

}  // namespace

void Liveness::on_ready(Time now) {
  handshake_until_.reset();
  on_frame(now);
}

void Liveness::on_frame(Time now) {
  if (linger_until_) return;
  silent_until_.reset();
  ping_at_ = now + (is_fast() ? config_.fast_ping : config_.idle);
}

// An expectation that is due earlier stays.
void Liveness::expect_frame(Time ping_at, Time until) {
  if (!ping_at_) return;  // there is no connection yet, or none any more
  ping_at_ = std::min(*ping_at_, ping_at);
  silent_until_ = std::min(silent_until_.value_or(until), until);
}

void Liveness::on_lane(Time now, Lane lane, bool unfinished) {
  auto& until = message_until_[static_cast<std::size_t>(lane)];
  if (!unfinished) {
    until.reset();
  } else if (!until) {
    until = now + config_.message;
  }
}

void Liveness::set_loss_detection(Time now, LossDetection detection) {
  if (loss_detection_ == detection) return;
  loss_detection_ = detection;
  if (is_fast() && ping_at_) ping_at_ = std::min(*ping_at_, now + config_.fast_ping);
}

void Liveness::doubt(Time now) { expect_frame(now, now + config_.probe); }

void Liveness::on_goodbye(Time now) {
  handshake_until_.reset();
  silent_until_.reset();
  ping_at_.reset();
  message_until_ = {};
  linger_until_ = now + config_.linger;
}

Result<Liveness::Need> Liveness::on_tick(Time now) {
  if (past(handshake_until_, now)) return fail(Kind::timeout, "it did not complete the handshake within {} ms", config_.handshake.count());
  if (past(linger_until_, now)) return fail(Kind::timeout, "it did not close within {} ms of our goodbye", config_.linger.count());
  if (past(write_until_, now)) return fail(Kind::timeout, "it did not take what we sent within {} ms", config_.write.count());
  if (past(silent_until_, now)) {
    if (now - *silent_until_ < config_.late) return fail(Kind::timeout, "it sent no whole frame for too long, and did not answer a ping");
    silent_until_ = now + config_.late;  // we were away, and have not looked yet at what came meanwhile
  }
  for (const auto& until : message_until_)
    if (past(until, now)) return fail(Kind::timeout, "it did not finish a message within {} ms", config_.message.count());
  if (!past(ping_at_, now)) return Need::nothing;
  ping_at_ = now + ping_after();
  expect_frame(*ping_at_, now + silence() - ping_after());
  return Need::ping;
}

Time Liveness::next_deadline() const {
  Time first = Time::max();
  for (const auto& deadline : {handshake_until_, linger_until_, write_until_, silent_until_, ping_at_}) earlier(first, deadline);
  for (const auto& deadline : message_until_) earlier(first, deadline);
  return first;
}

}  // namespace gw::transport
