#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "gateway/client.h"

namespace gw::cli {

// Watches a job of a running daemon to its end: its events and its output, each over a connection and on a thread of its own.
//
// A daemon that goes away may come back with the job: until kPatience is over the connections are made again, and go on where they broke
// off. detach() from any thread, at any time.
class JobFollower {
 public:
  static constexpr std::chrono::seconds kPatience{60};
  enum class IfGone : std::uint8_t { wait, fail };

  struct Sinks {
    std::vector<node::Stream> streams = {};                                // which ones are wanted
    std::function<void(node::Stream, std::string_view)> output = nullptr;  // on the thread of that stream
    std::function<void(const wire::pb::OutputFrame&)> frame = nullptr;  // output and errors in the order of arrival, on a thread of its own
    node::FrameQuery frames = {};                                       // which ones
    std::function<void(const node::JobEvent&)> event = nullptr;         // on the thread of events
    std::uint64_t first_event = 0;                                      // events before this one are not wanted
    bool until_suspended = false;                                       // the end of following, once its output has come
  };

  // `ticket`: of a job whose home is another peer; empty: the job is the daemon's own.
  JobFollower(std::filesystem::path socket, const job::JobId& id, IfGone if_gone, const std::string& ticket = {});

  // How the job ended; nothing if detach() came first, or if it is suspended().
  Result<std::optional<node::JobEvent::Over>> follow(const Sinks& sinks);
  bool suspended() const { return suspended_; }
  void detach();

 private:
  // Calls `once` until it is through, or there is no hope. `progressed` tells whether something has come since the last time.
  Status persist(const std::function<Status()>& once, const std::function<bool()>& progressed);
  Status follow_output(gateway::Client& client, node::Stream stream, const Sinks& sinks);
  Status follow_frames(gateway::Client& client, const Sinks& sinks);
  Status read_rest(node::Stream stream, std::uint64_t offset, const Sinks& sinks) const;
  Status follow_events(const Sinks& sinks);
  bool pause();

  std::unique_ptr<gateway::Client> make_client() const;

  const std::filesystem::path socket_;
  const std::string ticket_;
  const job::JobId id_;
  const IfGone if_gone_;
  std::vector<std::unique_ptr<gateway::Client>> clients_;  // of events, of the streams, of frames
  std::optional<node::JobEvent::Over> over_;
  std::atomic<bool> suspended_ = false;  // set on the thread of events

  std::mutex mutex_;
  std::condition_variable detached_changed_;
  bool detached_ = false;
};

}  // namespace gw::cli
