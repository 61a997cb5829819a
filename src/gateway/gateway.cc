#include "gateway/gateway.h"

#include <unistd.h>

#include <cerrno>

#include "base/log.h"
#include "os/files/io.h"

namespace gw::gateway {
namespace {

constexpr std::string_view kArea = "gateway";

// The permissions of the socket do the same; this check also holds if they were changed.
Status check_user(int socket) {
  GW_TRY(const uid_t user, os::peer_user(socket));
  if (user == ::geteuid() || user == 0) return ok();
  return fail(Kind::invalid, "user {} may not use the daemon of user {}", user, ::geteuid());
}

}  // namespace

Result<std::unique_ptr<Gateway>> Gateway::open(asio::io_context& io, node::Control& control, node::JobTickets& tickets, Config config) {
  GW_TRY(os::LocalListener listener, os::LocalListener::open(config.socket));
  const std::string where = config.socket.string();
  std::unique_ptr<Gateway> gateway(new Gateway(io, control, tickets, std::move(config), std::move(listener)));
  const int fd = ::dup(gateway->listener_.fd());  // the acceptor closes its own
  Local::acceptor acceptor(io);
  error_code error;
  if (fd >= 0) acceptor.assign(Local(), fd, error);
  if (fd < 0 || error) return fail(Kind::internal, "cannot listen at {}: {}", where, fd < 0 ? os::reason(errno) : error.message());
  gateway->session_server_.open(std::move(acceptor));
  return gateway;
}

Gateway::Gateway(asio::io_context& io, node::Control& control, node::JobTickets& tickets, Config config, os::LocalListener listener)
    : config_(std::move(config)),
      listener_(std::move(listener)),
      session_server_(io, {.area = kArea,
                           .connections = config_.connections,
                           .make = [this, &control, &tickets](Local::socket socket) -> Result<std::unique_ptr<Session>> {
                             GW_TRY_VOID(check_user(socket.native_handle()));
                             return std::make_unique<Session>(std::move(socket), control, tickets, config_.session, config_.web,
                                                              Session::Entrance::local);
                           }}),
      ticket_desk_(io, control, tickets) {}

asio::awaitable<void> Gateway::stop() {
  co_await ticket_desk_.stop();
  co_await session_server_.stop();
}

}  // namespace gw::gateway
