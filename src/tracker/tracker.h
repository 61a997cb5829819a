#pragma once
// A web service that lists live peers, for peers that know no other peer yet.

#include <filesystem>
#include <memory>

#include "base/per_address_rate_limit.h"
#include "httpd/exchange.h"
#include "httpd/session_server.h"
#include "tracker/peer_directory.h"

namespace gw::tracker {

namespace asio = httpd::asio;

class Session;

// POST /v1/announce and GET /v1/peers over HTTP, as docs/tracker.md says. The directory is saved to a file periodically, so that
// it survives a restart; peers announce themselves again within minutes anyway.
//
// Belongs to the thread of its io_context. REQUIRES: stop() has returned before the destructor runs. Limits: Config, and a
// rate limit per address.
class Tracker {
 public:
  struct Config {
    asio::ip::tcp::endpoint listen;
    std::filesystem::path file;
    std::size_t connections = 256;
    std::chrono::seconds save_every = std::chrono::minutes(1);
    PeerDirectory::Config directory{};
    PerAddressRateLimit::Config rate_limit{};
    httpd::Exchange<httpd::Tcp>::Config http{.idle = std::chrono::seconds(20), .receive = std::chrono::seconds(10)};
  };

  // Kind::invalid: cannot listen at that address; Kind::corrupt: the file is damaged.
  static Result<std::unique_ptr<Tracker>> open(asio::io_context& io, Config config);
  ~Tracker();

  const asio::ip::tcp::endpoint& listening() const { return listening_; }
  asio::awaitable<void> stop();

 private:
  friend class Session;
  class SignatureChecker;

  Tracker(asio::io_context& io, Config config);
  Status load();
  void save();
  void save_later();
  httpd::Answer answer(const std::string& visitor, std::string_view method, std::string_view target, std::string_view body);
  httpd::Answer announce(std::string_view body);
  httpd::Answer list(std::string_view query);

  const Config config_;
  const std::unique_ptr<SignatureChecker> signer_;
  PeerDirectory directory_;
  PerAddressRateLimit rate_limit_;
  Rng rng_;
  bool changed_ = false;
  asio::ip::tcp::endpoint listening_;
  asio::steady_timer save_at_;
  httpd::SessionServer<httpd::Tcp, Session> session_server_;
};

}  // namespace gw::tracker
