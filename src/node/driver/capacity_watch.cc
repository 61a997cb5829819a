#include "node/driver/capacity_watch.h"

#include <sys/utsname.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <charconv>
#include <cmath>
#include <thread>

#include "base/log.h"
#include "os/clock.h"
#include "wire/plain_text.h"

namespace gw::node {
namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::seconds kTestPatience{5};
constexpr std::size_t kMostOutput = 64u << 10;
constexpr std::size_t kMostFailure = 300;
constexpr std::chrono::seconds kLeastSample{1};  // between two samples of the load: a shorter time shows one program more than the load

std::string architecture() {
  utsname system{};
  return ::uname(&system) == 0 ? system.machine : "";
}

// The first line that says something.
std::string first_line(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \r\n");
  if (from == std::string::npos) return "";
  return wire::plain_text(text.substr(from, std::min(text.find('\n', from), text.size()) - from), kMostFailure);
}

}  // namespace

SpeedTest read_speed_test(const Result<os::ProcessResult>& run) {
  if (!run && run.error().kind == Kind::timeout) return {};  // the machine is busy, not broken
  if (!run) return {.failure = run.error().detail};
  SpeedTest test;
  const char* const end = run->out.data() + run->out.size();
  const auto read = std::from_chars(run->out.data(), end, test.speed);
  if (run->succeeded() && read.ec == std::errc() && test.speed > 0) return test;
  test = {.failure = first_line(run->err)};
  if (!test.failure.empty()) return test;
  test.failure = run->signal != 0     ? fmt::format("signal {} ended it", run->signal)
                 : run->exit_code > 0 ? fmt::format("it exited with {}", run->exit_code)
                                      : "it did not say how fast this machine is";
  return test;
}

bool SpeedTestTimes::begin_if_due(nanoseconds now, bool idle) {
  if (running_ || now < due_ || (!idle && !failed_)) return false;
  running_ = true;
  return true;
}

void SpeedTestTimes::on_ended(nanoseconds now, bool failed) {
  running_ = false;
  failed_ = failed;
  due_ = now + (failed ? nanoseconds(kAfterFailure) : nanoseconds(kEvery));
}

void CapacityWatch::begin(std::function<Lent()> lent) {
  lent_ = std::move(lent);
  begun_at_ = os::monotonic_now();
  look();
  wait();
}

void CapacityWatch::stop() {
  lent_ = nullptr;
  timer_.cancel();
}

void CapacityWatch::wait() {
  timer_.expires_after(kEvery);
  timer_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
    if (error || !*alive || !lent_) return;
    look();
    wait();
  });
}

void CapacityWatch::look() {
  if (!lent_) return;
  const nanoseconds now = os::monotonic_now();
  Lent lent = lent_();
  if (sampled_at_ == nanoseconds(0) || now - sampled_at_ >= kLeastSample) {
    // Workers of normal priority are part of the load that the kernel shows.
    const nanoseconds own = os::process_time() + (lent.nice == 0 ? environment_.workers_time() : nanoseconds(0));
    const double busy = activity_.read(std::chrono::system_clock::now(), now, own).busy;
    load_ = static_cast<std::uint32_t>(std::lround(busy / std::max(1u, std::thread::hardware_concurrency()) * 1000));
    sampled_at_ = now;
  }
  job::Capacity& capacity = lent.capacity;
  // The part of a core that the owner lends is its speed for jobs.
  capacity.set_speed(last_.speed * lent.cpu_percent / 100);
  capacity.set_load(load_);
  capacity.set_uptime_s(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now - begun_at_).count()));
  capacity.set_arch(architecture());
  environment_.tell({std::move(capacity), last_.failure});
  if (times_.begin_if_due(now, environment_.idle())) test_speed();
}

void CapacityWatch::test_speed() {
  const auto test = [this, alive = alive_] {
    const SpeedTest found = read_speed_test(os::run_process(
        {.argv = {environment_.worker.string(), "--measure"}, .stdin_bytes = {}, .max_output = kMostOutput, .timeout = kTestPatience}));
    boost::asio::post(io_, [this, alive, found] {
      if (!*alive) return;
      if (!found.failure.empty()) log::warn("node", "workers cannot start, so nothing is lent", kv("reason", found.failure));
      if (found.speed > 0) log::info("node", "speed measured", kv("thousandths", found.speed));
      times_.on_ended(os::monotonic_now(), found.speed == 0);
      if (found.speed > 0 || !found.failure.empty()) last_ = found;
      look();
    });
  };
  if (!thread_.try_add(test)) times_.on_ended(os::monotonic_now(), true);
}

}  // namespace gw::node
