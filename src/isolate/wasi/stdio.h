#pragma once
// Where a guest's standard input comes from and its output goes to. Called on the isolate's pool thread.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace gw::isolate {

class InputSource {
 public:
  enum class State : std::uint8_t { data, end, not_yet };
  struct Read {
    State state;
    std::size_t bytes;  // > 0 if and only if state is data
  };

  virtual ~InputSource() = default;
  // Fills the start of `buffer` (never empty) without waiting.
  virtual Result<Read> read(std::span<std::uint8_t> buffer) = 0;
  // Waits until read() would not say not_yet, at most `timeout`. Only for guests that cannot park (level off).
  virtual void wait(std::chrono::milliseconds timeout) = 0;
};

class OutputSink {
 public:
  virtual ~OutputSink() = default;
  // Takes all of it or fails; the guest sees a failure as EIO.
  virtual Status write(ByteView bytes) = 0;
};

// No input at all.
class EmptyInput final : public InputSource {
 public:
  Result<Read> read(std::span<std::uint8_t>) override { return Read{State::end, 0}; }
  void wait(std::chrono::milliseconds) override {}
};

// Keeps everything, for tests and tools. Bounded by the isolate's output limit.
class MemorySink final : public OutputSink {
 public:
  Status write(ByteView bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return ok();
  }
  std::string_view text() const { return as_text(bytes_); }

 private:
  Bytes bytes_;
};

// An open file descriptor of this process, which stays the caller's. Never changes its O_NONBLOCK flag: it asks poll(2) first.
class FdInput final : public InputSource {
 public:
  explicit FdInput(int fd) : fd_(fd) {}
  Result<Read> read(std::span<std::uint8_t> buffer) override;
  void wait(std::chrono::milliseconds timeout) override;

 private:
  int fd_;
};

// Writes through at once, waiting where the descriptor makes it wait.
class FdOutput final : public OutputSink {
 public:
  explicit FdOutput(int fd) : fd_(fd) {}
  Status write(ByteView bytes) override;

 private:
  int fd_;
};

}  // namespace gw::isolate
