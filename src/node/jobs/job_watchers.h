#pragma once
// The subscriptions of users to jobs.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "node/control.h"

namespace gw::node {

// Calls the watchers of the jobs that have changed. A job that nobody watches costs a lookup, and a change of a job costs its own watchers,
// however many others there are.
//
// A callback may end any subscription, its own too; a subscription may outlive this object. Limit: kMaxWatchers. Belongs to the node
// thread.
class JobWatchers {
 public:
  static constexpr std::size_t kMaxWatchers = 1024;

  // Kind::overloaded: there are kMaxWatchers.
  Result<std::unique_ptr<Subscription>> add(const job::JobId& id, std::function<void()> changed);
  // The watchers of the job are due. False: it has none.
  bool note_change(const job::JobId& id);
  // Calls each watcher that is due, once.
  void wake();

 private:
  using Number = std::uint64_t;
  struct Table {
    std::map<Number, std::function<void()>> watchers;
    std::map<job::JobId, std::set<Number>> by_job;
  };
  class Watching;

  std::shared_ptr<Table> table_ = std::make_shared<Table>();  // shared with the subscriptions
  std::set<Number> due_;
  Number next_ = 0;
};

}  // namespace gw::node
