#pragma once
// How many connections strangers may have.

#include <cstddef>
#include <map>
#include <string>

#include "base/result.h"

namespace gw::transport {

// Counts the connections others have opened, by address and those that have not shown who they are yet. Pure.
class Admission {
 public:
  struct Config {
    std::size_t connections = 1024;
    std::size_t per_address = 64;  // several peers may live behind one address
    std::size_t handshakes = 128;  // at once, not yet authenticated
    std::size_t handshakes_per_address = 32;
  };

  explicit Admission(Config config) : config_(config) {}

  // Kind::overloaded: no room, with what there is too much of.
  Status admit(const std::string& address);
  // REQUIRES: a connection of this address was admitted and has not been authenticated.
  void on_authenticated(const std::string& address);

  enum class Stage { handshake, authenticated };
  // The connection is over, in this stage. REQUIRES: it was admitted.
  void release(const std::string& address, Stage stage);

  std::size_t connections() const { return connections_; }
  // No connection from any address fits: the one that has been idle for longest should be closed.
  bool full() const { return connections_ >= config_.connections; }
  bool full_of_handshakes() const { return handshakes_ >= config_.handshakes; }

 private:
  const Config config_;
  struct Count {
    std::size_t connections = 0, handshakes = 0;
  };
  std::map<std::string, Count> by_address_;
  std::size_t connections_ = 0, handshakes_ = 0;
};

}  // namespace gw::transport
