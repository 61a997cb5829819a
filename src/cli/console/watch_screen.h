#pragma once

#include <chrono>
#include <deque>
#include <string>

#include "cli/console/terminal.h"
#include "node/control.h"

namespace gw::cli {

// The picture of a job that `job watch` shows: progress, rates, the time that is left, hosts and failures. A value; one thread.
class WatchScreen {
 public:
  using Clock = std::chrono::steady_clock;

  // The state of the job at this moment.
  void add(Clock::time_point now, const node::JobView& view);

  // Tasks that end per second, over the last kWindow; 0: not known yet.
  double rate() const;
  // The time until the job has ended at this rate; none: not known.
  std::optional<std::chrono::seconds> left() const;
  // At most `lines` lines, none longer than the terminal is wide.
  std::string render(const Terminal& terminal, std::size_t lines) const;
  // The whole screen in one line, for a pipe.
  std::string line() const;

 private:
  static constexpr std::chrono::seconds kWindow{15};
  struct Sample {
    Clock::time_point at;
    std::uint64_t over;
  };
  std::uint64_t all() const;
  std::uint64_t over() const { return view_.summary.ended + view_.summary.failed; }

  node::JobView view_;
  std::deque<Sample> samples_;
};

}  // namespace gw::cli
