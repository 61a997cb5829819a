#pragma once
// The dashboard and the HTTP API, on a TCP port of this machine.

#include <memory>

#include "gateway/session.h"
#include "gateway/web/web_access.h"
#include "httpd/session_server.h"

namespace gw::gateway {

// Serves the files of the dashboard to everybody on this machine, and the API to those with a token (WebAccess).
//
// Belongs to the node thread. REQUIRES: stop() has returned before the destructor runs; the control outlives the gateway. Limits: Config.
class WebGateway {
 public:
  struct Config {
    std::string listen;            // ADDRESS:PORT, or empty: loopback, the first free port from kWebPort on
    std::filesystem::path tokens;  // the file of WebTokens
    std::span<const WebPage> pages;
    std::size_t connections = 64;
    Session::Config session;
  };

  // Kind::invalid: the address is not one of loopback, or is taken.
  static Result<std::unique_ptr<WebGateway>> open(asio::io_context& io, node::Control& control, node::JobTickets& tickets, Config config);

  WebAccess& access() { return access_; }
  std::uint16_t port() const { return port_; }

  // Closes all connections and waits for their end. New ones are refused.
  asio::awaitable<void> stop() { return session_server_.stop(); }

 private:
  WebGateway(asio::io_context& io, node::Control& control, node::JobTickets& tickets, Config config, const Tcp::endpoint& where);

  const Config config_;
  const std::uint16_t port_;
  WebAccess access_;
  httpd::SessionServer<Tcp, Session> session_server_;
};

}  // namespace gw::gateway
