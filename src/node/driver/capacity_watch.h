#pragma once
// Measures what this machine can lend, and tells the peer.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "job/placing/capacity.h"
#include "node/disk/serial_thread.h"
#include "os/owner/owner_activity.h"
#include "os/process/process.h"
#include "peer/peer.h"

namespace gw::node {

// The outcome of `godwit-worker --measure`.
struct SpeedTest {
  std::uint32_t speed = 0;  // thousandths of the speed of the reference machine; 0: not known
  std::string failure;      // why the worker did not start: one line; empty: it did, or took too long on a busy machine
};
SpeedTest read_speed_test(const Result<os::ProcessResult>& run);

// When the speed is measured: at the start, then each hour if no job runs here, and each minute while no test succeeds. A value.
class SpeedTestTimes {
 public:
  static constexpr std::chrono::hours kEvery{1};
  static constexpr std::chrono::minutes kAfterFailure{1};

  // `now`: of a clock that goes on evenly. True: a test begins now.
  bool begin_if_due(std::chrono::nanoseconds now, bool idle);
  void on_ended(std::chrono::nanoseconds now, bool failed);

 private:
  bool running_ = false;
  bool failed_ = true;  // as long as nothing is known
  std::chrono::nanoseconds due_{0};
};

// Looks every kEvery at the load of other programs, the disk and the share, and tests the speed in a caged worker, on its own thread. Costs
// about 0.1 ms per look. Belongs to the node thread.
class CapacityWatch {
 public:
  static constexpr std::chrono::seconds kEvery{10};
  struct Environment {
    std::filesystem::path worker;  // godwit-worker
    std::function<void(peer::SetCapacity)> tell;
    std::function<bool()> idle;                              // no job runs here
    std::function<std::chrono::nanoseconds()> workers_time;  // processor time of the workers so far
  };
  // The part that the owner's settings and the disk decide: memory, disk and tags, the part of the time of each core, and the
  // priority of workers.
  struct Lent {
    job::Capacity capacity;
    std::uint32_t cpu_percent = 100;
    std::uint32_t nice = 0;
  };

  // `io` runs the node thread; it outlives this object, and what it still holds then does nothing.
  CapacityWatch(boost::asio::io_context& io, Environment environment) : environment_(std::move(environment)), io_(io), timer_(io) {}
  ~CapacityWatch() { *alive_ = false; }

  void begin(std::function<Lent()> lent);
  // Something that the owner decides has changed.
  void look();
  void stop();

 private:
  void test_speed();
  void wait();

  const Environment environment_;
  boost::asio::io_context& io_;
  boost::asio::steady_timer timer_;
  std::function<Lent()> lent_;  // empty: stopped
  os::OwnerActivity activity_;
  std::chrono::nanoseconds begun_at_{0};
  std::chrono::nanoseconds sampled_at_{0};
  std::uint32_t load_ = 0;
  SpeedTest last_;
  SpeedTestTimes times_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with the timer and the test
  SerialThread thread_{{.name = "speed", .waiting = 1}};
};

}  // namespace gw::node
