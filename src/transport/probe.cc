#include "transport/probe.h"

#include <utility>

namespace gw::transport {
namespace {

// The state of a probe; closing the socket ends every wait of it.
struct Probe {
  TlsStream stream;
  PeerCheck check;
  asio::steady_timer patience;
  bool late = false;
};

asio::awaitable<void> close_late(Probe& probe) {
  auto [cancelled] = co_await probe.patience.async_wait(kAsTuple);
  if (cancelled) co_return;
  probe.late = true;
  error_code ignored;
  probe.stream.socket().close(ignored);
}

asio::awaitable<Status> dial_and_check(Probe& probe, Endpoint where) {
  auto [refused] = co_await probe.stream.socket().async_connect(where, kAsTuple);
  if (refused == asio::error::connection_refused) co_return fail(Kind::not_found, "no process listens there");
  if (refused) co_return fail(Kind::timeout, "it cannot be reached: {}", refused.message());
  const error_code failed = co_await probe.stream.handshake(TlsStream::Side::client);
  if (!failed) co_return ok();
  if (!probe.check.found) co_return fail(Kind::invalid, "{}", probe.check.found.error().detail);
  co_return fail(Kind::invalid, "there is no peer: {}", failed.message());
}

}  // namespace

asio::awaitable<Status> probe(asio::io_context& io, asio::ssl::context& tls, Endpoint where, PeerId expected) {
  Probe probe{TlsStream(Socket(io), tls), PeerCheck{.expected = expected}, asio::steady_timer(io, kProbePatience)};
  set_check(probe.stream.native_handle(), probe.check);
  TaskGroup watch(io.get_executor());
  watch.spawn("probe patience", close_late(probe));
  Status result = co_await dial_and_check(probe, where);
  probe.patience.cancel();
  co_await watch.wait();
  error_code ignored;
  probe.stream.socket().close(ignored);
  if (probe.late) co_return fail(Kind::timeout, "nothing came back within {} ms", kProbePatience.count());
  co_return result;
}

}  // namespace gw::transport
