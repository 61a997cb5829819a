#pragma once
// TLS by Asio and nothing else: what a transport is compared with.

#include <vector>

#include "transport/identity/identity.h"
#include "transport/transport.h"

namespace gw::bench {

// Sends back what comes, to one client after the other.
transport::asio::awaitable<void> serve_bare_tls(transport::asio::ip::tcp::acceptor acceptor, transport::asio::ssl::context& tls);

// Microseconds of each of some round trips of `bytes` bytes to such a server.
Result<std::vector<double>> bare_tls_round_trips(const transport::Endpoint& server, std::size_t bytes, std::size_t count);

}  // namespace gw::bench
