#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gateway/client.h"
#include "os/child_process.h"

namespace gw::cli {

// What `godwit up` says to the daemon it starts.
struct DaemonOptions {
  std::filesystem::path socket;
  std::filesystem::path state;
  std::vector<std::string> listen;  // none: as the daemon likes
  std::vector<std::string> join;
  std::vector<std::string> grids;  // none: as the daemon likes
  std::optional<std::uint32_t> slots;
  std::optional<int> ready_fd;
  std::vector<std::string> inside;  // words before the command: in a namespace, for example
  std::string tracker;              // empty: it is none
  enum class Discovery : std::uint8_t { on, off };
  Discovery discovery = Discovery::on;
};

// Where a daemon in the background logs.
std::filesystem::path log_file(const std::filesystem::path& state);

// Where godwit-daemon is: beside this program.
Result<std::filesystem::path> daemon_program();
std::vector<std::string> daemon_words(const std::filesystem::path& program, const DaemonOptions& options);

// A daemon of our own making. It lives as long as this object, and ends in good order when its standard input does, so also if we are
// killed; unless leave() lets it go on by itself.
class DaemonProcess {
 public:
  static constexpr std::chrono::seconds kPatience{30};  // until it answers, and until it has stopped

  enum class Life : std::uint8_t { ours, own };
  // Returns when it answers. Kind::internal with the end of its log if it does not. REQUIRES: no ready_fd.
  static Result<DaemonProcess> start(const DaemonOptions& options, Life life);

  const node::NodeView& view() const { return view_; }
  pid_t pid() const { return child_.pid(); }
  int exited_fd() const { return child_.exited_fd(); }  // readable when it has ended
  // It goes on when we do not. REQUIRES: Life::own.
  void leave() { child_.leave(); }
  // In good order, whatever jobs it has, and waits for the end.
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
