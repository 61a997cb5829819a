#include "isolate/run_control.h"

#include <atomic>

#include "base/check.h"
#include "isolate/engine/wasm_engine.h"
#include "os/clock.h"

namespace gw::isolate {
namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::milliseconds kTracePatience{100};

nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  GW_ASSERT(clock_gettime(clock, &time) == 0);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

}  // namespace

void RunControl::suspend(std::chrono::milliseconds patience) {
  std::lock_guard lock(mutex_);
  if (state_ == RunState::ended) return;
  suspend_requested_ = true;
  if (!in_run()) return;
  patience_ends_ = os::monotonic_now() + patience;
  store_poll_cell(1);
  if (target_.info.poll == wire::Poll::counter) {
    counter_requested_ = true;
    target_.heap.interrupt();
  }
}

void RunControl::pause() {
  std::lock_guard lock(mutex_);
  if (state_ != RunState::running) return;
  hold_ = true;
  target_.heap.interrupt();
}

void RunControl::unpause() {
  std::lock_guard lock(mutex_);
  hold_ = false;
  patience_ends_.reset();
  changed_.notify_all();
}

void RunControl::end(EndReason reason) {
  std::lock_guard lock(mutex_);
  end_locked(reason);
}

void RunControl::end_locked(EndReason reason) {
  if (state_ == RunState::ended || end_reason_) return;
  end_reason_ = reason;
  hold_ = false;
  if (in_run()) {
    target_.heap.terminate();
  } else {
    state_ = RunState::ended;
  }
  changed_.notify_all();
}

RunState RunControl::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

RunState RunControl::wait_while_running(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return state_ != RunState::running; });
  return state_;
}

nanoseconds RunControl::cpu_time() const {
  std::lock_guard lock(mutex_);
  return cpu_time_locked();
}

nanoseconds RunControl::cpu_time_locked() const { return in_run() ? cpu_used_ + read_clock(target_.cpu_clock) - cpu_start_ : cpu_used_; }

std::optional<RunControl::EndReason> RunControl::end_reason() const {
  std::lock_guard lock(mutex_);
  return end_reason_;
}

bool RunControl::suspend_requested() const {
  std::lock_guard lock(mutex_);
  return suspend_requested_;
}

void RunControl::on_tick(nanoseconds now) {
  std::lock_guard lock(mutex_);
  if (!in_run()) return;
  if (auto limit = limit_reached(now)) {
    if (*limit == LimitKind::memory || state_ != RunState::running) return end_locked(*limit);
    // The guest first notes where it is: for people the most important thing about an endless loop.
    if (!trace_deadline_) {
      trace_deadline_ = now + kTracePatience;
      trace_requested_ = true;
    }
    return trace_requested_ && now < *trace_deadline_ ? target_.heap.interrupt() : end_locked(*limit);
  }
  if (state_ == RunState::running && patience_ends_ && now >= *patience_ends_) {
    patience_ends_.reset();
    hold_ = true;
  }
  // Repeats the interrupt until it takes effect: one that comes just before the guest's first instruction is lost.
  if (state_ == RunState::running && (hold_ || counter_requested_)) target_.heap.interrupt();
}

std::optional<LimitKind> RunControl::limit_reached(nanoseconds now) const {
  if (target_.instance.memory_bytes() > memory_limit_bytes(limits_, target_.info)) return LimitKind::memory;
  if (cpu_time_locked() > limits_.cpu_time) return LimitKind::cpu_time;
  if (now - first_start_.value_or(now) > limits_.wall_time) return LimitKind::wall_time;
  return std::nullopt;
}

RunControl::Begin RunControl::begin_run() {
  std::lock_guard lock(mutex_);
  if (state_ == RunState::ended) return Begin::ended;
  GW_ASSERT(state_ == RunState::stopped);
  if (suspend_requested_) {
    suspend_requested_ = false;
    return Begin::suspended;
  }
  state_ = RunState::running;
  store_poll_cell(0);  // whatever an image had there
  if (!first_start_) first_start_ = os::monotonic_now();
  cpu_start_ = read_clock(target_.cpu_clock);
  return Begin::go;
}

bool RunControl::renew() {
  std::lock_guard lock(mutex_);
  GW_ASSERT(!in_run());
  if (end_reason_) return false;
  state_ = RunState::stopped;
  suspend_requested_ = false;
  first_start_.reset();
  cpu_used_ = nanoseconds(0);
  return true;
}

RunState RunControl::end_run(RunState next) {
  std::lock_guard lock(mutex_);
  GW_ASSERT(in_run());
  cpu_used_ = cpu_time_locked();
  state_ = end_reason_ ? RunState::ended : next;
  suspend_requested_ = counter_requested_ = trace_requested_ = hold_ = false;
  patience_ends_.reset();
  store_poll_cell(0);
  target_.heap.forget_termination();
  changed_.notify_all();
  return state_;
}

bool RunControl::take_counter_request() {
  std::lock_guard lock(mutex_);
  return std::exchange(counter_requested_, false);
}

bool RunControl::take_trace_request() {
  std::lock_guard lock(mutex_);
  return std::exchange(trace_requested_, false);
}

void RunControl::hold_while_paused() {
  std::unique_lock lock(mutex_);
  hold_locked(lock);
}

void RunControl::hold_locked(std::unique_lock<std::mutex>& lock) {
  if (!hold_) return;
  state_ = RunState::paused;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !hold_; });
  state_ = RunState::running;
}

bool RunControl::wait_in_place(nanoseconds deadline) {
  std::unique_lock lock(mutex_);
  for (;;) {
    hold_locked(lock);
    nanoseconds left = deadline - os::monotonic_now();
    if (end_reason_ || left <= nanoseconds(0)) return !end_reason_;
    changed_.wait_for(lock, left, [this] { return end_reason_.has_value() || hold_; });
  }
}

void RunControl::store_poll_cell(std::uint32_t value) {
  if (target_.info.poll != wire::Poll::cell) return;
  auto* cell = reinterpret_cast<std::uint32_t*>(target_.instance.memory_base() + target_.info.poll_cell);
  std::atomic_ref(*cell).store(value, std::memory_order_relaxed);
}

}  // namespace gw::isolate
