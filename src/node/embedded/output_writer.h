#pragma once
// Writes the output of a program to the descriptors of the command.

#include <cstdint>
#include <deque>
#include <span>

#include "job/effects/effect_gate.h"
#include "node/embedded/job_outcome.h"

namespace gw::node {

// Shows stored effects in their order: output goes to descriptors of this process, partial results to an observer.
//
// Never blocks: a descriptor that takes no more (a stopped terminal, a full pipe) holds up everything behind it. The caller of add() checks
// waiting_bytes() and lets the program wait. A descriptor whose reader has gone takes everything and forgets it: broken() says so. Belongs
// to one thread.
class OutputWriter {
 public:
  struct Descriptors {
    int output = 1;
    int errors = 2;
  };

  OutputWriter(Descriptors descriptors, JobObserver& observer) : descriptors_(descriptors), observer_(observer) {}

  void add(job::Effect effect);
  bool empty() const { return waiting_.empty(); }
  std::size_t waiting_bytes() const { return waiting_bytes_; }
  // The descriptor to wait for (POLLOUT) before the next advance(), or -1.
  int blocked_on() const;
  // Does what can be done now.
  Status advance();
  bool broken() const { return broken_; }
  // The number of bytes of the first waiting effect that are shown.
  std::size_t shown_of_first() const { return written_; }
  // Effects that were added and not shown, in their order; of the first only what was not shown.
  std::deque<job::Effect> waiting() const;

 private:
  enum class Progress : std::uint8_t { made, blocked };
  Result<Progress> write_some();
  int descriptor_of(const job::Effect::Output& output) const;
  std::size_t gather(std::span<char> out) const;
  void drop_output(std::size_t bytes);

  Descriptors descriptors_;
  JobObserver& observer_;
  std::deque<job::Effect> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::size_t written_ = 0;  // of the front one
  bool broken_ = false;
};

}  // namespace gw::node
