#include "node/embedded/poll_loop.h"

#include <algorithm>
#include <cerrno>

#include "os/clock.h"
#include "os/files/io.h"

namespace gw::node {
namespace {

constexpr std::chrono::milliseconds kLongestPoll{60'000};

}  // namespace

class PollLoop::Registration final : public EventLoop::Watch {
 public:
  Registration(PollLoop& loop, std::shared_ptr<Entry> entry) : loop_(loop), entry_(std::move(entry)) {}
  ~Registration() override {
    entry_->descriptor = -1;  // its turn may be under way
    loop_.entries_.remove(entry_);
  }

 private:
  PollLoop& loop_;
  std::shared_ptr<Entry> entry_;
};

Result<std::unique_ptr<EventLoop::Watch>> PollLoop::watch(int descriptor, std::function<void()> ready) {
  entries_.push_back(std::make_shared<Entry>(Entry{descriptor, std::move(ready)}));
  return std::make_unique<Registration>(*this, entries_.back());
}

void PollLoop::with_blobs(std::function<void(BlobReader&)> task, std::function<void()> then) {
  task(blobs_);
  post(std::move(then));
}

void PollLoop::with_images(std::function<void()> task, std::function<void()> then) {
  task();
  post(std::move(then));
}

Status PollLoop::wait(std::vector<pollfd>& others, job::Time until) {
  const std::vector<std::shared_ptr<Entry>> watched(entries_.begin(), entries_.end());
  std::vector<pollfd> all = others;
  for (const auto& entry : watched) all.push_back({entry->descriptor, POLLIN, 0});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::min<job::Time>(until - os::monotonic_now(), kLongestPoll));
  const auto timeout = posted_.empty() ? std::max<std::int64_t>(left.count(), 0) : 0;
  if (::poll(all.data(), all.size(), static_cast<int>(timeout)) < 0) {
    if (errno != EINTR) return fail(Kind::internal, "waiting for the worker failed: {}", os::reason(errno));
    for (pollfd& entry : all) entry.revents = 0;
  }
  std::ranges::copy(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(others.size()), others.begin());
  for (std::deque<std::function<void()>> now = std::exchange(posted_, {}); !now.empty(); now.pop_front()) now.front()();
  for (std::size_t i = 0; i < watched.size(); ++i)
    if (all[others.size() + i].revents != 0 && watched[i]->descriptor >= 0) watched[i]->ready();
  return ok();
}

}  // namespace gw::node
