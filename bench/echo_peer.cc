#include "echo_peer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>

#include "bare_tls.h"
#include "os/files/io.h"

namespace gw::bench {
namespace {

namespace asio = transport::asio;

class Echo final : public transport::Receiver {
 public:
  void on_connected(const transport::PeerId&, const transport::ConnectionOrigin&) override {}
  void on_message(const transport::PeerId&, transport::Lane, Bytes) override {}
  void on_request(const transport::RequestId& request, Bytes message) override {
    if (message.size() > EchoPeer::kEchoBytes) message.clear();
    (void)transport->answer(request, transport::Lane::control, std::move(message));  // the asking peer may be gone
  }
  void on_disconnected(const transport::PeerId&, const transport::Ended&) override {}

  transport::Transport* transport = nullptr;
};

Status serve() {
  asio::io_context io(1);
  GW_TRY(const auto identity, transport::Identity::make());
  Echo echo;
  GW_TRY(const auto transport, transport::Transport::make(io, identity, echo, {}));
  echo.transport = transport.get();
  GW_TRY(const auto at, transport->listen({asio::ip::address_v4::loopback(), 0}));
  GW_TRY(auto tls, transport::make_tls_context(identity.key().get(), identity.certificate().get()));
  transport::TaskGroup tasks(io.get_executor());
  asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  fmt::print("{} {}\n", at.port(), acceptor.local_endpoint().port());
  std::fflush(stdout);
  tasks.spawn("bare TLS", serve_bare_tls(std::move(acceptor), tls));
  io.run();  // without end
  return ok();
}

// A line of two numbers.
Result<std::array<std::uint16_t, 2>> read_ports(int fd) {
  std::string line;
  for (char c = 0; c != '\n';) {
    if (::read(fd, &c, 1) != 1) return fail(Kind::internal, "the other side of the measurement did not start");
    line += c;
  }
  std::array<std::uint16_t, 2> ports{};
  const char* end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, ports[0]);
  if (first.ptr == end) return fail(Kind::internal, "the other side of the measurement named one port only");
  std::from_chars(first.ptr + 1, end, ports[1]);
  return ports;
}

}  // namespace

Result<EchoPeer> EchoPeer::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Kind::internal, "cannot make a pipe: {}", os::reason(errno));
  const os::UniqueFd from(ends[0]), to(ends[1]);
  GW_TRY(auto process, os::ChildProcess::start({.argv = {"/proc/self/exe", "echo-peer"}, .descriptors = {{to.get(), 1}, {2, 2}}}));
  GW_TRY(const auto ports, read_ports(from.get()));
  return EchoPeer(std::move(process), ports[0], ports[1]);
}

int echo_peer_main() {
  const Status served = serve();
  fmt::print(stderr, "godwit-bench: {}\n", served ? "the other side of the measurement has ended" : served.error().detail);
  return 1;
}

}  // namespace gw::bench
