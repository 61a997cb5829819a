#pragma once
// The requests of this side that wait for their answer.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "base/bytes.h"
#include "transport/liveness.h"

namespace gw::transport {

// Each request ends once: by its answer, its deadline, or the end of the connection. An answer that nobody waits for (any more) is
// dropped. Belongs to one connection; pure, but for the functions it was given.
class RequestTable {
 public:
  using Done = std::function<void(Result<Bytes>)>;

  explicit RequestTable(std::size_t limit) : limit_(limit) {}

  // The stream number to send it under. Kind::overloaded: too many are open.
  Result<std::uint32_t> open(Time deadline, Done done);
  // It was not sent after all: its function is not called.
  void forget(std::uint32_t stream) { open_.erase(stream); }
  void on_answer(std::uint32_t stream, Result<Bytes> answer);
  void on_tick(Time now);
  Time next_deadline() const;
  void fail_all(const Error& error);

 private:
  struct Open {
    Time deadline;
    Done done;
  };
  const std::size_t limit_;
  std::map<std::uint32_t, Open> open_;
  std::uint32_t next_stream_ = 1;
};

}  // namespace gw::transport
