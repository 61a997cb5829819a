#include "transport/connection/connection.h"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <utility>

#include "transport/peer_text.h"

namespace gw::transport {
namespace {

constexpr std::size_t kBatchBytes = 128u << 10;
// Limit of unsent bytes in the kernel: control messages cannot overtake those.
constexpr int kUnsentBytes = 128 << 10;

void set_options(Socket& socket) {
  error_code ignored;  // a connection without them is slower, not wrong
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytes, sizeof kUnsentBytes);
}

bool is_alert(const error_code& error) {
  return error.category() == asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(error.value())) >= SSL_AD_REASON_OFFSET;
}

}  // namespace

Connection::Connection(Start start, asio::ssl::context& tls, Config config, Owner& owner)
    : remote_(std::move(start.remote)),
      dialer_(start.dialer),
      way_(start.way),
      number_(start.number),
      boot_(start.boot),
      config_(config),
      owner_(owner),
      check_{.expected = start.expected},
      stream_(std::move(start.socket), tls),
      liveness_(config.liveness, now()),
      queue_(config.queue),
      window_(config.bulk),
      used_(now()),
      requests_(config.open_requests),
      next_circuit_(start.dialer == Dialer::us ? 1 : 2),
      read_frames_(config.read_frames, used_),
      read_bytes_(config.read_bytes, used_),
      came_(used_),
      to_write_(stream_.socket().get_executor()),
      deadline_(stream_.socket().get_executor()),
      read_pause_(stream_.socket().get_executor()),
      tasks_(stream_.socket().get_executor()) {
  set_check(stream_.native_handle(), check_);
}

Ended Connection::lost(const error_code& error) const {
  if (is_alert(error)) return {Cause::untrusted, fmt::format("it did not accept us: {}", error.message())};
  const bool ended = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  if (way_ == Way::relayed && (ended || error == asio::error::connection_reset || error == asio::error::broken_pipe))
    return {Cause::carrier, "the circuit to it ended"};
  if (ended) return {Cause::reset, "it closed the connection without a word"};
  if (error.category() == asio::error::get_ssl_category())
    return {Cause::broke_rules, fmt::format("it broke the rules of TLS: {}", error.message())};
  return {Cause::reset, fmt::format("the connection broke: {}", error.message())};
}

asio::awaitable<void> Connection::run() {
  tasks_.spawn("watch", watch());
  if (!ended_) co_await establish();
  if (!ended_) {
    secured_ = true;
    push_hello();
    tasks_.spawn("write", write());
    co_await read();
  }
  close_socket();
  co_await tasks_.wait();
}

asio::awaitable<void> Connection::establish() {
  if (!stream_.socket().is_open()) {
    auto [refused] = co_await stream_.socket().async_connect(remote_, kAsTuple);
    if (refused) {
      const Cause cause = refused == asio::error::connection_refused ? Cause::nobody : Cause::silent;
      end({cause, fmt::format("it cannot be reached: {}", refused.message())});
      co_return;
    }
  }
  set_options(stream_.socket());
  const error_code error = co_await stream_.handshake(dialer_ == Dialer::us ? TlsStream::Side::client : TlsStream::Side::server);
  if (!error) co_return;
  bool certificate_refused = ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_CERTIFICATE_VERIFY_FAILED;
  end(certificate_refused && !check_.found ? Ended{Cause::untrusted, check_.found.error().detail} : lost(error));
}

asio::awaitable<void> Connection::read() {
  while (stream_.socket().is_open()) {
    auto [error, count] = co_await stream_.read_some(decoder_.space());
    if (error) {
      end(lost(error));
      co_return;
    }
    traffic_.bytes_in += count;
    if (ended_) continue;  // they have not read our goodbye yet; closing with bytes unread would reset the connection under it
    decoder_.filled(count);
    came_ = now();
    read_bytes_.take(came_, static_cast<double>(count));
    if (Status taken = on_bytes(); !taken) say_goodbye(Goodbye::broke_rules, {Cause::broke_rules, taken.error().detail});
    co_await pay();
  }
}

// A peer that sent more than the limits allow is not read until the time for it has passed; its own sending then stops.
asio::awaitable<void> Connection::pay() {
  const Time paid = std::max(read_bytes_.paid(came_), read_frames_.paid(came_));
  if (paid <= came_ || !stream_.socket().is_open()) co_return;
  read_pause_.expires_at(paid);
  co_await read_pause_.async_wait(kAsTuple);
}

asio::awaitable<void> Connection::write() {
  Bytes batch;
  while (stream_.socket().is_open()) {
    batch.clear();
    const std::size_t bulk = queue_.take(batch, kBatchBytes, window_.room());
    if (batch.empty()) {
      if (ended_) break;  // the goodbye is out
      write_waits_ = true;
      to_write_.expires_at(Time::max());
      co_await to_write_.async_wait(kAsTuple);
      continue;
    }
    const Time began = now();
    window_.on_sent(began, bulk);
    liveness_.on_write_started(began);
    wake_by(liveness_.next_deadline());
    const error_code error = co_await stream_.write(batch);
    liveness_.on_write_done();
    traffic_.bytes_out += batch.size();
    if (error) {
      break_off(lost(error));
      co_return;
    }
  }
  error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_send, ignored);
}

asio::awaitable<void> Connection::watch() {
  while (stream_.socket().is_open() || !ended_) {
    deadline_.expires_at(std::min(liveness_.next_deadline(), requests_.next_deadline()));
    co_await deadline_.async_wait(kAsTuple);
    if (ended_ && !stream_.socket().is_open()) co_return;
    requests_.on_tick(now());
    auto need = liveness_.on_tick(now());
    if (!need) {
      break_off({Cause::silent, need.error().detail});
    } else if (way_ == Way::relayed && ready_ && now() - used_ >= config_.relayed_idle) {
      say_goodbye(Goodbye::idle, {Cause::idle, "it was not used, and takes a place at a relay"});
    } else if (*need == Liveness::Need::ping) {
      queue_.push_ping(next_ping_++);
      wake_writer();
    }
  }
}

void Connection::wake_writer() {
  if (std::exchange(write_waits_, false)) to_write_.cancel();
}

void Connection::wake_by(Time deadline) {
  if (deadline < deadline_.expiry()) deadline_.cancel();
}

// The owner learns of the end from a task, so that no call of its own calls it back.
asio::awaitable<void> Connection::report() {
  owner_.on_ended(*this, *ended_);
  requests_.fail_all(fail(Kind::disconnected, "the connection ended before the answer came: {}", ended_->sentence));
  co_return;
}

void Connection::end(Ended ended) {
  if (ended_) return;
  ended_ = std::move(ended);
  tasks_.spawn("report", report());
}

void Connection::break_off(Ended ended) {
  end(std::move(ended));
  close_socket();
}

void Connection::close_socket() {
  error_code ignored;
  stream_.socket().close(ignored);  // what waits for it fails
  wake_writer();
  deadline_.cancel();
  read_pause_.cancel();
}

void Connection::say_goodbye(Goodbye reason, Ended ended) {
  if (ended_) return;
  if (!secured_) return break_off(std::move(ended));
  ByteWriter payload;
  payload.u8(static_cast<std::uint8_t>(reason));
  payload.bytes(as_bytes(shortened(ended.sentence)));
  const bool in_order = reason == Goodbye::closing || reason == Goodbye::idle;
  queue_.end_with(payload.take(), in_order ? SendQueue::Rest::control : SendQueue::Rest::nothing);
  end(std::move(ended));
  liveness_.on_goodbye(now());
  wake_by(liveness_.next_deadline());
  wake_writer();
}

void Connection::doubt() {
  if (!open()) return;
  liveness_.doubt(now());
  wake_by(liveness_.next_deadline());
}

std::uint32_t Connection::next_circuit() {
  const std::uint32_t number = next_circuit_;
  next_circuit_ += 2;  // comes round after 2^31 circuits, and keeps its parity
  return number != 0 ? number : next_circuit();
}

void Connection::set_loss_detection(Liveness::LossDetection detection) {
  liveness_.set_loss_detection(now(), detection);
  wake_by(liveness_.next_deadline());
}

Status Connection::push(Message message) {
  GW_TRY_VOID(enqueue(std::move(message)));
  ++traffic_.messages_out;
  return ok();
}

Status Connection::send_frame(Message frame) {
  if (!open()) return fail(Kind::disconnected, "the connection is not open");
  return enqueue(std::move(frame));
}

Status Connection::enqueue(Message message) {
  GW_TRY_VOID(queue_.push(std::move(message)));
  used_ = now();
  liveness_.on_sent(used_);
  wake_by(liveness_.next_deadline());
  wake_writer();
  return ok();
}

Status Connection::send(Lane lane, Bytes message) {
  if (!open()) return fail(Kind::disconnected, "the connection is not open");
  return push({FrameKind::message, lane, 0, std::move(message)});
}

Status Connection::request(Lane lane, Bytes message, Time deadline, RequestTable::Done done) {
  if (!open()) return fail(Kind::disconnected, "the connection is not open");
  GW_TRY(std::uint32_t stream, requests_.open(deadline, std::move(done)));
  Status pushed = push({FrameKind::request, lane, stream, std::move(message)});
  if (!pushed) requests_.forget(stream);
  wake_by(deadline);
  return pushed;
}

Status Connection::answer(Lane lane, std::uint32_t stream, Result<Bytes> answer) {
  if (!open()) return fail(Kind::disconnected, "the connection is not open");
  if (!asked_.contains(stream)) return fail(Kind::not_found, "there is no open request {}", stream);
  if (answer) {
    GW_TRY_VOID(push({FrameKind::answer, lane, stream, *std::move(answer)}));
  } else {
    GW_TRY_VOID(push({FrameKind::refusal, Lane::control, stream, encode_refusal(answer.error())}));
  }
  asked_.erase(stream);
  return ok();
}

}  // namespace gw::transport
