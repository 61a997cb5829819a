#include "node/driver/owner_watch.h"

#include <ctime>

#include "os/clock.h"

namespace gw::node {
namespace {

using std::chrono::nanoseconds;

std::uint32_t minute_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return static_cast<std::uint32_t>(local.tm_hour * 60 + local.tm_min);
}

}  // namespace

job::LendingConditions OwnerSigns::on_sample(nanoseconds now, const os::OwnerActivity::Sample& sample, std::uint32_t minute) {
  const bool busy = sample.busy >= kBusy;
  if (busy && std::exchange(was_busy_, busy)) active_at_ = now;
  was_busy_ = busy;
  if (sample.input_idle) active_at_ = std::max(active_at_, now - std::min<nanoseconds>(now, *sample.input_idle));
  return {.owner_idle = now - active_at_, .on_battery = sample.on_battery, .minute_of_day = minute, .known = true};
}

OwnerWatch::OwnerWatch(boost::asio::io_context& io, Environment environment) : environment_(std::move(environment)), timer_(io) {}

void OwnerWatch::set(const job::LendingTimes& when, std::uint32_t nice) {
  nice_ = nice;
  if (when.always()) return stop();
  if (signs_) return;
  signs_ = std::make_unique<OwnerSigns>(os::monotonic_now());
  look();
}

void OwnerWatch::stop() {
  signs_.reset();
  timer_.cancel();
}

void OwnerWatch::wait() {
  timer_.expires_after(kEvery);
  timer_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
    if (!error && *alive && signs_) look();
  });
}

// Workers of normal priority are part of the load that the kernel shows.
void OwnerWatch::look() {
  const nanoseconds now = os::monotonic_now();
  const nanoseconds own = os::process_time() + (nice_ == 0 ? environment_.workers_time() : nanoseconds(0));
  const auto sample = activity_.read(std::chrono::system_clock::now(), now, own);
  environment_.tell(signs_->on_sample(now, sample, minute_of_day()));
  wait();
}

}  // namespace gw::node
