#pragma once

#include <array>
#include <functional>
#include <memory>
#include <thread>

#include "base/bytes.h"
#include "os/files/unique_fd.h"

namespace gw::cli {

// Two pipes in place of standard output and error, for commands that process a program's output before it is shown. The bytes go to `sink`,
// in order, on a thread of the relay; a sink that blocks makes the program wait.
class OutputRelay {
 public:
  enum class Stream { output, errors };
  using Sink = std::function<void(Stream, ByteView)>;

  static Result<std::unique_ptr<OutputRelay>> start(Sink sink);
  ~OutputRelay();

  int output() const { return ends_[0].write.get(); }
  int errors() const { return ends_[1].write.get(); }

  // Closes the pipes and waits until the sink has got everything.
  void finish();

 private:
  struct Pipe {
    os::UniqueFd read, write;
  };

  explicit OutputRelay(Sink sink) : sink_(std::move(sink)) {}
  void run();
  void pass_on(std::size_t pipe);

  Sink sink_;
  std::array<Pipe, 2> ends_;
  std::thread thread_;
};

}  // namespace gw::cli
