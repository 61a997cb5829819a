#pragma once
// The other side of a connection that is measured: a process of its own that answers.

#include <cstdint>

#include "os/process/child_process.h"
#include "transport/transport.h"

namespace gw::bench {

// A peer's transport and a bare TLS server in one process, which send back what they get; requests longer than kEchoBytes are answered
// with nothing, so that their way there is what is measured. Runs until the object goes.
class EchoPeer {
 public:
  static constexpr std::size_t kEchoBytes = 4096;

  static Result<EchoPeer> start();

  transport::Endpoint transport_at() const { return at(transport_port_); }
  transport::Endpoint bare_tls_at() const { return at(bare_tls_port_); }

 private:
  EchoPeer(os::ChildProcess process, std::uint16_t transport_port, std::uint16_t bare_tls_port)
      : process_(std::move(process)), transport_port_(transport_port), bare_tls_port_(bare_tls_port) {}
  static transport::Endpoint at(std::uint16_t port) { return {transport::asio::ip::address_v4::loopback(), port}; }

  os::ChildProcess process_;
  std::uint16_t transport_port_, bare_tls_port_;
};

// The main function of that process: `godwit-bench echo-peer` prints its two ports, then answers until it is killed.
int echo_peer_main();

}  // namespace gw::bench
