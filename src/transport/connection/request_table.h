#pragma once
// The requests of this side that wait for their answer.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "base/bytes.h"
#include "transport/connection/liveness.h"

namespace gw::transport {

// Each request ends once: by its answer, its deadline, or the end of the connection. An answer without an open request is dropped. Belongs
// to one connection; pure, except for the callbacks.
class RequestTable {
 public:
  using Done = std::function<void(Result<Bytes>)>;

  explicit RequestTable(std::size_t limit) : limit_(limit) {}

  // The stream number to send it under. Kind::overloaded: too many are open.
  Result<std::uint32_t> open(Time deadline, Done done);
  // The request was not sent after all: its function is not called.
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
