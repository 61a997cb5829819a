#pragma once
// The statuses that a host sends to the home of a job.

#include <cstdint>
#include <string>

#include "job/actions.h"
#include "job/host/hosted_thread.h"

namespace gw::job {

// Numbers and sends the statuses of one claim. Each has what holds of the whole claim: why the last worker died, whether anything comes of
// code, images and threads, whether the threads are leaving. A value without threads.
class HostStatus {
 public:
  struct Claim {
    PeerId home;
    JobId job;
    std::uint64_t claim;
    std::uint32_t slots;
  };
  enum class Gone : std::uint8_t { failed, no_room };  // no_room: the program is not to blame

  explicit HostStatus(const Claim& claim) : claim_(claim) {}

  // The number of the last status.
  const std::uint64_t& number() const { return number_; }
  const std::string& failure() const { return failure_; }
  void set_failure(std::string why) { failure_ = std::move(why); }
  void on_progress() { ++progress_; }
  bool draining() const { return draining_; }
  void set_draining() { draining_ = true; }

  // Without threads: an answer to a claim.
  void send(Actions& out) { send(next(), out); }
  template <class Threads>
  void send_full(Time now, const Threads& threads, Actions& out) {
    JobMessage::Status status = next();
    status.set_full(true);
    for (const auto& [id, thread] : threads) add(now, thread, status);
    send(std::move(status), out);
  }
  void send_held(Time now, const HostedThread& thread, Actions& out);
  void send_gone(ThreadId id, std::uint64_t epoch, Actions& out, Gone why = Gone::failed);
  // The thread cannot run, and why. If the message is lost, home sees that the thread is not here, places it again and is told again.
  enum class Fault : std::uint8_t { program, kept_state };
  void send_failed(ThreadId id, std::uint64_t epoch, const std::string& sentence, Actions& out, Fault fault = Fault::program) const;
  // The thread has left; its whole state is at its keeper.
  void send_suspended(const HostedThread& thread, Actions& out) const;

 private:
  JobMessage::Status next();
  static void add(Time now, const HostedThread& thread, JobMessage::Status& status);
  void send(JobMessage::Status status, Actions& out) const;

  const Claim claim_;
  std::uint64_t number_ = 0;
  std::uint64_t progress_ = 0;
  std::string failure_;  // how the last worker died
  bool draining_ = false;
};

}  // namespace gw::job
