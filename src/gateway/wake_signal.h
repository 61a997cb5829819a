#pragma once
// Lets a coroutine wait for a callback.

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "base/result.h"
#include "gateway/http.h"

namespace gw::gateway {

// raise() ends the current wait, or the next one if there is none; stop() ends all waits. Shared by the session and its callbacks, which
// may be called after the session has ended. One thread.
class WakeSignal {
 public:
  enum class Woken : std::uint8_t { raised, late, stopped };

  explicit WakeSignal(const asio::any_io_executor& executor) : timer_(executor) {}

  void raise() {
    raised_ = true;
    timer_.cancel();
  }
  void stop() {
    stopped_ = true;
    timer_.cancel();
  }
  bool stopped() const { return stopped_; }

  asio::awaitable<Woken> wait(std::chrono::milliseconds patience) {
    timer_.expires_after(patience);
    if (!raised_ && !stopped_) co_await timer_.async_wait(kAsTuple);
    if (stopped_) co_return Woken::stopped;
    co_return std::exchange(raised_, false) ? Woken::raised : Woken::late;
  }

 private:
  asio::steady_timer timer_;
  bool raised_ = false, stopped_ = false;
};

// The value that `start` passes to its callback. Kind::timeout: the callback was not called in time; Kind::disconnected: the gateway stops.
template <class T, class Start>
asio::awaitable<Result<T>> answer_of(std::shared_ptr<WakeSignal> wake, std::chrono::milliseconds patience, Start start) {
  auto answer = std::make_shared<std::optional<Result<T>>>();  // shared with the callback, which may be called after the wait has timed out
  start([wake, answer](Result<T> result) {
    answer->emplace(std::move(result));
    wake->raise();
  });
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!*answer) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const WakeSignal::Woken woken = co_await wake->wait(std::max(left, std::chrono::milliseconds(0)));
    if (*answer) break;
    if (woken == WakeSignal::Woken::stopped) co_return fail(Kind::disconnected, "the daemon stops");
    if (woken == WakeSignal::Woken::late)
      co_return fail(Kind::timeout, "the daemon did not complete the request within {} s", patience.count() / 1000);
  }
  co_return std::move(**answer);
}

}  // namespace gw::gateway
