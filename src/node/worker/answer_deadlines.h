#pragma once
// The deadlines of requests that wait for an answer.

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gw::node {

// A deadline for each request that is open. A worker may have thousands of threads with a request each, and the parent asks for the next
// deadline with every frame: deadlines are also kept in the order of time.
//
// Costs: O(log requests), next() O(1). A value without threads.
template <class Request>
class AnswerDeadlines {
 public:
  using Time = std::chrono::nanoseconds;
  struct Next {
    Time at;
    Request request;
  };

  // A second deadline of the same request replaces the first.
  void expect(const Request& request, Time deadline) {
    forget(request);
    deadlines_.emplace(request, deadline);
    by_time_.emplace(deadline, request);
  }
  void forget(const Request& request) {
    const auto found = deadlines_.find(request);
    if (found == deadlines_.end()) return;
    by_time_.erase({found->second, request});
    deadlines_.erase(found);
  }
  bool expects(const Request& request) const { return deadlines_.contains(request); }
  std::optional<Next> next() const {
    if (by_time_.empty()) return std::nullopt;
    return Next{by_time_.begin()->first, by_time_.begin()->second};
  }

 private:
  std::map<Request, Time> deadlines_;
  std::set<std::pair<Time, Request>> by_time_;
};

}  // namespace gw::node
