#pragma once
// A peer that has a key and a connection and breaks every rule.

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "transport/task_group.h"
#include "transport/transport.h"

namespace gw::hostile {

// Sends bytes to one peer and counts the answers. When the other side disconnects, it returns with another key. Belongs to one thread,
// which drives everything from inside the calls.
class Stranger final : transport::Receiver {
 public:
  using Clock = std::chrono::steady_clock;
  using Received = std::function<void(std::string message)>;

  Stranger(transport::Endpoint target, Received received) : target_(std::move(target)), received_(std::move(received)) {}
  ~Stranger();
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  // Connects if there is no connection, and returns when the target has dealt with the message: what it sends back, and whether it has hung
  // up, is known then. Kind::timeout, disconnected: the target is down. Kind::invalid: the message is longer than the limit.
  Status send(const std::string& message);
  // The same, without waiting. Nothing happens if there is no connection.
  void send_at_once(const std::string& message);
  Status ensure_connected() { return connected() ? ok() : connect(); }
  // REQUIRES: ensure_connected() has been successful.
  const transport::PeerId& target() const { return *peer_; }
  // Listens for a while.
  void listen(std::chrono::milliseconds duration);
  // The next message is sent with another identity.
  void leave();
  const transport::Identity& identity() const { return *identity_; }

  std::size_t identities() const { return identities_; }
  std::size_t disconnected() const { return disconnected_; }

 private:
  Status connect();
  Status deliver(const std::string& message);
  bool connected() const { return transport_ != nullptr && peer_ && transport_->connected(*peer_); }
  void on_connected(const transport::PeerId&, const transport::ConnectionOrigin&) override {}
  void on_message(const transport::PeerId&, transport::Lane, Bytes message) override { received_(std::string(as_text(message))); }
  void on_request(const transport::RequestId&, Bytes) override {}
  void on_disconnected(const transport::PeerId&, const transport::Ended&) override { ++disconnected_; }

  transport::Endpoint target_;
  Received received_;
  transport::asio::io_context io_{1};
  std::optional<transport::Identity> identity_;
  std::unique_ptr<transport::Transport> transport_;
  std::optional<transport::PeerId> peer_;
  std::size_t identities_ = 0, disconnected_ = 0;
};

}  // namespace gw::hostile
