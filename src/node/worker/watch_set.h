#pragma once
// Watches many descriptors through one.

#include <poll.h>

#include <map>
#include <vector>

#include "base/result.h"
#include "os/files/unique_fd.h"

namespace gw::node {

// An epoll(7) descriptor that is readable as long as one of those it holds is ready: so code that is written for poll(2) can be driven by a
// loop that watches one descriptor for each object. Belongs to one thread.
class WatchSet {
 public:
  static Result<WatchSet> make();

  int fd() const { return epoll_.get(); }
  // Watches these descriptors for these events, and no others, from now on. REQUIRES: a descriptor that was closed is not in the list,
  // unless opened anew and not listed in between.
  Status watch(const std::vector<pollfd>& wanted);

 private:
  explicit WatchSet(os::UniqueFd epoll) : epoll_(std::move(epoll)) {}

  os::UniqueFd epoll_;
  std::map<int, short> watched_;  // with their events
};

}  // namespace gw::node
