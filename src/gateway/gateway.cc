#include "gateway/gateway.h"

#include <unistd.h>

#include <cerrno>

#include "base/log.h"
#include "os/io.h"

namespace gw::gateway {
namespace {

constexpr std::string_view kArea = "gateway";
constexpr std::chrono::milliseconds kAcceptPause{100};  // when the system has no descriptors left

// The permissions of the socket say the same; this holds where somebody has changed them.
Status check_user(int socket) {
  GW_TRY(const uid_t user, os::peer_user(socket));
  if (user == ::geteuid() || user == 0) return ok();
  return fail(Kind::invalid, "user {} may not speak to the daemon of user {}", user, ::geteuid());
}

}  // namespace

Result<std::unique_ptr<Gateway>> Gateway::open(asio::io_context& io, node::Control& control, Config config) {
  GW_TRY(os::LocalListener listener, os::LocalListener::open(config.socket));
  std::unique_ptr<Gateway> gateway(new Gateway(io, control, std::move(config), std::move(listener)));
  const int fd = ::dup(gateway->listener_.fd());  // the acceptor closes its own
  error_code error;
  if (fd >= 0) gateway->acceptor_.assign(Local(), fd, error);
  if (fd < 0 || error)
    return fail(Kind::internal, "cannot listen at {}: {}", gateway->config_.socket.string(), fd < 0 ? os::reason(errno) : error.message());
  gateway->tasks_.spawn("accept", gateway->accept());
  return gateway;
}

Gateway::Gateway(asio::io_context& io, node::Control& control, Config config, os::LocalListener listener)
    : io_(io), control_(control), config_(std::move(config)), listener_(std::move(listener)), acceptor_(io), tasks_(io.get_executor()) {}

Gateway::~Gateway() { GW_ASSERT(sessions_.empty()); }

asio::awaitable<void> Gateway::accept() {
  asio::steady_timer pause(io_);
  while (!stopping_) {
    auto [error, socket] = co_await acceptor_.async_accept(kAsTuple);
    if (stopping_) co_return;
    if (!error) {
      admit(std::move(socket));
      continue;
    }
    log::warn(kArea, "cannot accept a connection", kv("why", error.message()));
    pause.expires_after(kAcceptPause);
    co_await pause.async_wait(kAsTuple);
  }
}

void Gateway::admit(Local::socket socket) {
  if (Status allowed = check_user(socket.native_handle()); !allowed)
    return log::warn(kArea, "connection refused", kv("why", allowed.error().detail));
  if (sessions_.size() >= config_.connections)
    return log::warn(kArea, "connection refused", kv("why", "there are too many already"), kv("limit", config_.connections));
  auto session = sessions_.emplace(sessions_.end(), std::move(socket), control_, config_.session);
  tasks_.spawn("session", serve(session));
}

asio::awaitable<void> Gateway::serve(std::list<Session>::iterator session) {
  co_await session->run();
  sessions_.erase(session);
}

asio::awaitable<void> Gateway::stop() {
  stopping_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  for (Session& session : sessions_) session.stop();
  co_await tasks_.wait();
}

}  // namespace gw::gateway
