#include "transport/relay/circuit.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "transport/peer_text.h"

namespace gw::transport {
namespace {

// Limit of bytes in a pair: control messages of the connection inside cannot overtake them.
constexpr int kPairBytes = 64 << 10;

}  // namespace

Result<SocketPair> make_socket_pair(asio::io_context& io) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Kind::overloaded, "there are no descriptors left for another circuit");
  SocketPair pair{Socket(io), Socket(io)};
  const asio::generic::stream_protocol local(AF_UNIX, 0);
  pair.inner.assign(local, ends[0]);
  pair.outer.assign(local, ends[1]);
  error_code ignored;
  for (Socket* socket : {&pair.inner, &pair.outer}) socket->set_option(asio::socket_base::send_buffer_size(kPairBytes), ignored);
  return pair;
}

Circuit::Circuit(Socket outer, Send send)
    : outer_(std::move(outer)),
      send_(std::move(send)),
      credit_came_(outer_.get_executor()),
      data_came_(outer_.get_executor()),
      tasks_(outer_.get_executor()) {}

asio::awaitable<void> Circuit::run() {
  tasks_.spawn("pump in", pump_in());
  co_await pump_out();
  close();
  co_await tasks_.wait();
}

// Pumps from the socket into frames. After the far end has closed, the remaining output of the Connection is read and dropped: closing with
// unread bytes would reset the socket before the Connection has read the end.
asio::awaitable<void> Circuit::pump_out() {
  while (outer_.is_open()) {
    if (may_send_ == 0 && !closing_) {
      credit_came_.expires_at(asio::steady_timer::time_point::max());
      co_await credit_came_.async_wait(kAsTuple);
      continue;
    }
    Bytes piece(closing_ ? kMaxCircuitPayload : std::min(may_send_, kMaxCircuitPayload));
    auto [error, count] = co_await outer_.async_read_some(asio::buffer(piece), kAsTuple);
    if (error) break;
    if (closing_) continue;
    piece.resize(count);
    may_send_ -= count;
    if (!send_(FrameKind::circuit_data, Lane::relayed, std::move(piece))) break;
  }
  if (!closing_) (void)send_(FrameKind::circuit_close, Lane::relayed, encode_refusal(fail(Kind::disconnected, "the other end closed it")));
}

// From frames into the socket.
asio::awaitable<void> Circuit::pump_in() {
  while (outer_.is_open()) {
    if (came_.empty()) {
      if (closing_) break;
      data_came_.expires_at(asio::steady_timer::time_point::max());
      co_await data_came_.async_wait(kAsTuple);
      continue;
    }
    const Bytes piece = std::exchange(came_, {});
    auto [error, count] = co_await asio::async_write(outer_, asio::buffer(piece), kAsTuple);
    if (error) co_return close();
    may_come_ += count;
    ByteWriter payload;
    payload.u32(static_cast<std::uint32_t>(count));
    if (!closing_ && !send_(FrameKind::circuit_credit, Lane::control, payload.take())) co_return close();
  }
  error_code ignored;
  outer_.shutdown(Socket::shutdown_send, ignored);
}

Status Circuit::on_data(ByteView bytes) {
  if (bytes.empty() || bytes.size() > may_come_) return fail(Kind::invalid, "it sent more into a circuit than it may");
  may_come_ -= bytes.size();
  came_.insert(came_.end(), bytes.begin(), bytes.end());
  data_came_.cancel();
  return ok();
}

Status Circuit::on_credit(std::uint32_t bytes) {
  if (bytes > kCircuitCredit - may_send_) return fail(Kind::invalid, "it gives credit for bytes that were never sent");
  may_send_ += bytes;
  credit_came_.cancel();
  return ok();
}

void Circuit::on_close() {
  closing_ = true;
  credit_came_.cancel();
  data_came_.cancel();
}

void Circuit::close() {
  error_code ignored;
  outer_.close(ignored);  // what waits for it fails
  credit_came_.cancel();
  data_came_.cancel();
}

}  // namespace gw::transport
