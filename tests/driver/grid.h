#pragma once
// Several whole peers on the loopback interface, driven by one loop, and a job for them.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/signature.h"
#include "job/authority/charter.h"
#include "job/authority/manifest.h"
#include "node/driver/driver.h"
#include "os/files/file.h"
#include "wire/grid_name.h"

namespace gw::node {

class Grid : public testing::Test {
 protected:
  struct TestPeer {  // what stays when a peer is stopped
    os::TempDir state = os::TempDir::make().value();
    std::unique_ptr<transport::Identity> identity;
    std::unique_ptr<Driver> driver;
    Endpoint at;
  };
  struct Work {
    const char* source;
    std::uint32_t tasks = 1;
    std::uint32_t slots = 4;
    std::chrono::milliseconds checkpoint_every{0};
    std::uint32_t max_failures = 3;
    std::string grid = {};  // empty: the home's first
  };

  Grid();
  void TearDown() override;

  // A new peer that joins the first; or one that comes back to its place and state.
  TestPeer& add(std::uint32_t slots, const char* worker = GODWIT_WORKER);
  void start(TestPeer& test_peer, std::uint32_t slots, const char* worker = GODWIT_WORKER);
  void stop(TestPeer& test_peer);

  // Runs everything until it holds. False, and a failed test, if that takes far too long.
  bool until(const std::function<bool()>& holds);
  void until_all_see_all();

  job::JobId submit(TestPeer& home, const Work& work);
  std::string output(TestPeer& home, const job::JobId& id);
  JobView view(TestPeer& home, const job::JobId& id);
  // Where the first thread of a job is, or was last; nullptr: nowhere yet.
  TestPeer* host_of_main(TestPeer& home, const job::JobId& id);
  // The events of a job, for the message of a failed test.
  std::string story(TestPeer& home, const job::JobId& id);
  JobSummary summary(TestPeer& home, const job::JobId& id) { return home.driver->control().job_summary(id).value(); }
  bool over(TestPeer& home, const job::JobId& id) { return is_over(summary(home, id).state); }

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> open_{io_.get_executor()};
  os::TempDir folder_ = os::TempDir::make().value();
  NativeCode code_;
  std::vector<std::unique_ptr<TestPeer>> test_peers_;
  std::vector<std::string> grids_{std::string(wire::kDefaultGrid)};  // of peers that are started from now on
  transport::TaskGroup tasks_{io_.get_executor()};

 private:
  asio::awaitable<void> shut_down(Driver& driver, bool& done);
  void store(Driver& driver, const std::string& bytes);
  std::uint64_t nonce_ = 0;
};

}  // namespace gw::node
