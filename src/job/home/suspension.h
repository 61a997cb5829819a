#pragma once
// Whether a job runs or is suspended.

#include <cstdint>

#include "job/actions.h"
#include "job/authority/manifest.h"
#include "job/home/thread_table.h"

namespace gw::job {

// The suspension of one job at its home; docs/design/008-one-home.md. A suspension is wanted from the request on, and reached when no
// thread has a host any more. While it is wanted no thread is placed. A record makes it survive a restart of home.
//
// A value without threads.
class Suspension {
 public:
  explicit Suspension(const JobId& job) : job_(job) {}

  // Kind::invalid: the job is suspended, or about to be.
  Status begin(Actions& out);
  // Kind::invalid: the job is not suspended, nor about to be.
  Status end(Actions& out);
  // `placed`: how many threads have hosts. True: this call reached the suspension.
  bool complete(std::size_t placed, Actions& out);
  // The job is over.
  void clear(Actions& out);
  // The suspension was wanted before a restart of home.
  void recover(std::size_t placed) { state_ = placed == 0 ? State::reached : State::wanted; }

  // The main thread of a suspended program. Kind::invalid: the job is not suspended. Kind::unsupported: another thread has not ended.
  // Kind::not_found: `self` does not keep its image.
  Result<ThreadId> only_thread(const ThreadTable& threads, const Manifest& manifest, const PeerId& self) const;

  bool wanted() const { return state_ != State::none; }
  bool reached() const { return state_ == State::reached; }

 private:
  enum class State : std::uint8_t { none, wanted, reached };

  const JobId job_;
  State state_ = State::none;
};

}  // namespace gw::job
