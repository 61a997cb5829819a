#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gateway/client.h"
#include "os/process/child_process.h"

namespace gw::cli {

// The options of a daemon that `godwit up` starts.
struct DaemonOptions {
  std::filesystem::path socket;
  std::filesystem::path state;
  std::vector<std::string> listen;  // none: as the daemon likes
  std::vector<std::string> join;
  std::vector<std::string> grids;  // none: as the daemon likes
  std::optional<std::uint32_t> slots;
  std::string owner;                             // public key in hexadecimal; empty: none
  std::string audience;                          // as of `godwit share --for`; empty: as stored
  std::string name;                              // of the machine; empty: as the system calls it
  std::optional<std::chrono::seconds> keep_for;  // jobs that have ended
  std::optional<std::uint64_t> keep_bytes;       // of their output
  bool fetch_private = false;                    // URLs of private addresses may be fetched
  std::optional<int> ready_fd;
  std::vector<std::string> inside;  // words before the command: in a namespace, for example
  std::string tracker;              // empty: it is none
  std::optional<std::string> web;   // the address of the dashboard, empty: a usual one; none: it is not served
  enum class Discovery : std::uint8_t { on, off };
  Discovery discovery = Discovery::on;
  enum class FirstGrid : std::uint8_t { open, none };
  FirstGrid first_grid = FirstGrid::open;  // whether a daemon that was in no grid before joins the open one
};

// The log file of a daemon in the background.
std::filesystem::path log_file(const std::filesystem::path& state);

// The path of godwit-daemon, in the folder of this program.
Result<std::filesystem::path> daemon_program();
std::vector<std::string> daemon_words(const std::filesystem::path& program, const DaemonOptions& options);

// A daemon started by this command. It ends with this object, and also when its standard input closes because this process was killed;
// leave() lets it continue alone.
class DaemonProcess {
 public:
  static constexpr std::chrono::seconds kPatience{30};  // until it answers, and until it has stopped

  enum class Life : std::uint8_t { ours, own };
  // Returns when the daemon is ready. Kind::internal: the last line of its log. REQUIRES: no ready_fd.
  static Result<DaemonProcess> start(const DaemonOptions& options, Life life);

  const node::NodeView& view() const { return view_; }
  pid_t pid() const { return child_.pid(); }
  int exited_fd() const { return child_.exited_fd(); }  // readable when it has ended
  // The daemon continues after this process. REQUIRES: Life::own.
  void leave() { child_.leave(); }
  // Stops the daemon, even if it has jobs, and waits for its end.
  void stop();

 private:
  DaemonProcess(std::filesystem::path socket, os::ChildProcess child, os::UniqueFd input)
      : socket_(std::move(socket)), child_(std::move(child)), input_(std::move(input)) {}
  Status wait_until_ready(const os::UniqueFd& ready, const std::filesystem::path& log);

  std::filesystem::path socket_;
  os::ChildProcess child_;
  os::UniqueFd input_;  // the daemon reads its end there
  node::NodeView view_;
};

}  // namespace gw::cli
