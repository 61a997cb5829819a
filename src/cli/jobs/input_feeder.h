#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "gateway/client.h"
#include "os/files/unique_fd.h"

namespace gw::cli {

// The standard input of a job on peers: reads a piece from a descriptor when the program wants one, never before, and hands it to the
// daemon, again until the daemon has it. Does so on a thread of its own.
//
// on_wanted() from any thread; the rest belongs to the thread that made it.
class InputFeeder {
 public:
  static Result<std::unique_ptr<InputFeeder>> start(std::filesystem::path socket, const job::JobId& id, int descriptor);
  ~InputFeeder();

  void on_wanted(std::uint64_t piece);
  // Nothing is read any more. The job may go on: then its input ends here, as if a terminal had been closed.
  enum class Afterwards : std::uint8_t { over, goes_on };
  void stop(Afterwards afterwards);

 private:
  InputFeeder(std::filesystem::path socket, const job::JobId& id, int descriptor, os::UniqueFd stopped);
  void run();
  // The piece that is wanted; none: stop().
  std::optional<std::uint64_t> next_wanted();
  std::optional<std::string> read_piece();
  bool hand_over(std::uint64_t piece, const std::string& bytes);
  bool pause();

  const std::filesystem::path socket_;
  const job::JobId id_;
  const int descriptor_;
  const os::UniqueFd stopped_;    // eventfd: readable from stop() on
  gateway::Client client_;        // of the thread
  std::uint64_t next_piece_ = 0;  // to be read; of the thread until it has ended

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::uint64_t> wanted_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace gw::cli
