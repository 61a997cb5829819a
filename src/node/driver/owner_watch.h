#pragma once
// Watches for the owner of this machine, where the owner's rules depend on it.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "job/lending/lending.h"
#include "os/owner/owner_activity.h"

namespace gw::node {

// Turns samples of the operating system into the conditions of the lending rules.
//
// The owner counts as active at the last input, and while programs of normal priority keep kBusy of a processor busy for two samples in a
// row: one sample is also exceeded by a worker that ends in between. A value; time is passed in.
class OwnerSigns {
 public:
  static constexpr double kBusy = 0.3;

  // At a start nobody knows since when the machine has been idle: it counts as active.
  explicit OwnerSigns(std::chrono::nanoseconds now) : active_at_(now) {}
  job::LendingConditions on_sample(std::chrono::nanoseconds now, const os::OwnerActivity::Sample& sample, std::uint32_t minute_of_day);

 private:
  std::chrono::nanoseconds active_at_;
  bool was_busy_ = false;
};

// Reads a sample each second while it is needed, and tells. Belongs to the node thread.
class OwnerWatch {
 public:
  static constexpr std::chrono::seconds kEvery{1};
  struct Environment {
    std::function<void(const job::LendingConditions&)> tell;
    std::function<std::chrono::nanoseconds()> workers_time;  // processor time of the workers so far
  };

  OwnerWatch(boost::asio::io_context& io, Environment environment);
  ~OwnerWatch() { *alive_ = false; }

  // `nice`: the priority of the workers.
  void set(const job::LendingTimes& when, std::uint32_t nice);
  void stop();

 private:
  void look();
  void wait();

  const Environment environment_;
  boost::asio::steady_timer timer_;
  std::unique_ptr<OwnerSigns> signs_;  // null: nothing depends on the owner
  os::OwnerActivity activity_;
  std::uint32_t nice_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with the timer
};

}  // namespace gw::node
