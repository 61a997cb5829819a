#include "node/worker/watch_set.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "os/files/io.h"

namespace gw::node {
namespace {

std::uint32_t epoll_events(short events) {
  return ((events & POLLIN) != 0 ? std::uint32_t{EPOLLIN} : 0u) | ((events & POLLOUT) != 0 ? std::uint32_t{EPOLLOUT} : 0u);
}

}  // namespace

Result<WatchSet> WatchSet::make() {
  os::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return fail(Kind::internal, "cannot make an epoll descriptor: {}", os::reason(errno));
  return WatchSet(std::move(epoll));
}

Status WatchSet::watch(const std::vector<pollfd>& wanted) {
  std::erase_if(watched_, [&](const auto& entry) {
    if (std::ranges::any_of(wanted, [&](const pollfd& one) { return one.fd == entry.first; })) return false;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, entry.first, nullptr);  // fails if it is closed, and is not watched then either
    return true;
  });
  for (const pollfd& one : wanted) {
    const auto [found, fresh] = watched_.try_emplace(one.fd, one.events);
    if (!fresh && found->second == one.events) continue;
    found->second = one.events;
    epoll_event event{.events = epoll_events(one.events), .data = {}};
    if (::epoll_ctl(epoll_.get(), fresh ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, one.fd, &event) != 0)
      return fail(Kind::internal, "cannot watch a descriptor: {}", os::reason(errno));
  }
  return ok();
}

}  // namespace gw::node
