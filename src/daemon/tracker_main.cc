#include "daemon/tracker_main.h"

#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "node/discovery/name_resolver.h"
#include "tracker/tracker.h"
#include "transport/task_group.h"

namespace gw::daemon {

Status run_tracker(std::span<const std::string> arguments) {
  if (arguments.size() != 2) return fail(Kind::invalid, "usage: godwit-daemon tracker ADDRESS:PORT FILE");
  GW_TRY(const node::Endpoint where, node::parse_endpoint(arguments[0]));
  boost::asio::io_context io(1);
  transport::TaskGroup tasks(io.get_executor());
  GW_TRY(const auto tracker, tracker::Tracker::open(io, {.listen = where, .file = arguments[1]}));
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code&, int) {
    signals.clear();  // a second one does what signals do
    tasks.spawn("stop", tracker->stop());
  });
  io.run();
  return ok();
}

}  // namespace gw::daemon
