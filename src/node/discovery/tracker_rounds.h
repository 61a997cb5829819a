#pragma once
// The announcements of a peer to its trackers.

#include <memory>
#include <string>
#include <vector>

#include "node/discovery/name_resolver.h"
#include "tracker/inquiry.h"
#include "transport/task_group.h"

namespace gw::node {

// Announces this peer to every tracker every few minutes, and asks for other peers while it knows none. A tracker is needed only to find
// the first peer: a tracker that is down, lies or never ends its answer costs a line in the log.
//
// Belongs to the node thread. REQUIRES: stop() has returned before the destructor. Limits: those of an inquiry; one round per tracker at a
// time.
class TrackerRounds {
 public:
  struct Config {
    std::vector<std::string> trackers;  // "host:port"
    std::chrono::seconds announce_every = std::chrono::minutes(4);
    std::chrono::seconds alone_every = std::chrono::seconds(5);  // doubles each time, up to announce_every
  };
  struct Grid {
    wire::pb::Announcement announcement;
    enum class Company : std::uint8_t { alone, others };
    Company company = Company::alone;
  };
  class Owner {
   public:
    virtual std::vector<Grid> to_announce() = 0;
    // The descriptors are decoded but not verified.
    virtual void on_listed(const overlay::GridId& grid, const std::vector<wire::pb::Descriptor>& peers) = 0;

   protected:
    ~Owner() = default;
  };

  TrackerRounds(boost::asio::io_context& io, Config config, NameResolver& names, Owner& owner);
  ~TrackerRounds();

  void start();
  boost::asio::awaitable<void> stop();

 private:
  struct TrackerState {
    explicit TrackerState(boost::asio::io_context& io, std::string where) : address(std::move(where)), timer(io) {}
    std::string address;
    boost::asio::steady_timer timer;
    std::chrono::seconds wait{0};
    std::string last_failure;  // logged once, not every few minutes
  };

  void look_up(TrackerState& state);
  boost::asio::awaitable<void> go_round(TrackerState& state, tracker::Where where);
  boost::asio::awaitable<Status> inquire(tracker::Where where, Grid grid);
  void finish_round(TrackerState& state, const Status& status);

  const Config config_;
  NameResolver& names_;
  Owner& owner_;
  std::vector<std::unique_ptr<TrackerState>> trackers_;
  bool stopping_ = false;
  std::shared_ptr<bool> alive_;  // shared with the callbacks of name lookups
  transport::TaskGroup tasks_;
};

}  // namespace gw::node
