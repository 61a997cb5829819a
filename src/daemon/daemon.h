#pragma once
// A whole daemon: constructs all parts in one order and ends them in the opposite one.

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <memory>

#include "daemon/options.h"
#include "gateway/gateway.h"
#include "gateway/web/web_gateway.h"
#include "node/disk/state_folder.h"
#include "node/driver/driver.h"
#include "tracker/tracker.h"

namespace gw::daemon {

namespace asio = boost::asio;

// A daemon: one peer with its API. run() is its whole life, on the caller's thread, which becomes the node thread; it ends by SIGTERM,
// SIGINT, Control::stop(), a failed disk, or the end of its starter. A second signal ends the process at once.
class Daemon {
 public:
  // Kind::overloaded: another daemon has this state or socket; else what is wrong, in one sentence.
  static Result<std::unique_ptr<Daemon>> make(const Options& options);
  // Why it ended, if that was not wanted.
  Status run();

 private:
  Daemon(const Options& options, node::StateFolder folder, transport::Identity identity, node::NativeCode code);
  Status open();
  Result<node::RecordStore> open_records() const;
  Result<node::Driver::Config> driver_config(std::uint64_t boot);
  Status choose_addresses(node::Driver::Config& config) const;
  Status open_tracker(node::Driver::Config& config);
  Status open_web();
  void tell_ready();

  void wait_for_signal();
  void wait_for_starter();
  void look_for_jobs();
  void abandon();
  void begin_stop();
  asio::awaitable<void> stop();

  // In the order of their making.
  const Options options_;
  node::StateFolder folder_;
  transport::Identity identity_;
  node::NativeCode code_;
  asio::io_context io_{1};
  transport::TaskGroup tasks_{io_.get_executor()};
  std::unique_ptr<node::Driver> driver_;
  std::unique_ptr<gateway::WebGateway> web_;  // before the gateway, which uses it
  std::unique_ptr<gateway::Gateway> gateway_;
  std::unique_ptr<tracker::Tracker> tracker_;
  asio::signal_set signals_{io_};
  asio::posix::stream_descriptor starter_{io_};
  asio::steady_timer patience_{io_};
  bool stopping_ = false;
};

}  // namespace gw::daemon
