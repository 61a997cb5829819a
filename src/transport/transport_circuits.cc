// The ways that need a third peer: requests of this peer, and requests of others to it.

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "transport/peer_text.h"
#include "transport/probe.h"
#include "transport/transport.h"

namespace gw::transport {
namespace {

constexpr std::chrono::seconds kCallPatience{15};
constexpr std::size_t kMaxCalls = 1024;

Time steady_now() { return std::chrono::steady_clock::now(); }

Bytes bytes_of(const PeerId& peer) { return {peer.bytes.begin(), peer.bytes.end()}; }

Result<PeerId> read_peer(ByteReader& reader) {
  GW_TRY(const ByteView bytes, reader.bytes(sizeof(PeerId)));
  PeerId peer;
  std::ranges::copy(bytes, peer.bytes.begin());
  return peer;
}

// The whole payload is one id.
Result<PeerId> peer_in(const Frame& frame) {
  ByteReader reader(frame.payload);
  GW_TRY(const PeerId peer, read_peer(reader));
  if (!reader.at_end()) return fail(Kind::invalid, "a frame about a circuit is longer than a peer's id");
  return peer;
}

// u16 port, then 4 or 16 bytes.
void write_endpoint(ByteWriter& to, const Endpoint& endpoint) {
  to.u16(endpoint.port());
  if (endpoint.address().is_v4()) return to.bytes(endpoint.address().to_v4().to_bytes());
  to.bytes(endpoint.address().to_v6().to_bytes());
}

Result<Endpoint> read_endpoint(ByteReader& reader, ByteView payload) {
  GW_TRY(const std::uint16_t port, reader.u16());
  const ByteView rest = payload.subspan(reader.position());
  if (port == 0) return fail(Kind::invalid, "a peer asks to be dialled at port 0");
  if (asio::ip::address_v4::bytes_type v4; rest.size() == v4.size()) {
    std::ranges::copy(rest, v4.begin());
    return Endpoint(asio::ip::address_v4(v4), port);
  }
  asio::ip::address_v6::bytes_type v6;
  if (rest.size() != v6.size()) return fail(Kind::invalid, "an address of {} bytes", rest.size());
  std::ranges::copy(rest, v6.begin());
  return Endpoint(asio::ip::address_v6(v6), port);
}

}  // namespace

// --- requests of this peer

void Transport::connect_through(const PeerId& relay, const PeerId& target, Connected done) {
  Connection* carrier = carrier_to(relay);
  if (stopping_ || carrier == nullptr)
    return refuse(std::move(done), fail(Kind::disconnected, "there is no connection to the relay {}", relay.hex()));
  if (connections_.size() - admission_.connections() >= config_.dials)
    return refuse(std::move(done), fail(Kind::overloaded, "too many connections are open or being opened already: try again later"));
  auto pair = make_socket_pair(io_);
  if (!pair) return refuse(std::move(done), pair.error());
  const Port port{carrier->number(), carrier->next_circuit()};
  const Status asked = carrier->send_frame({FrameKind::circuit_open, Lane::control, port.stream, bytes_of(target)});
  if (!asked) return refuse(std::move(done), asked.error());
  const std::uint64_t inside =
      start({.socket = std::move(pair->inner), .remote = carrier->remote(), .dialer = Dialer::us, .expected = target, .way = Way::relayed});
  dials_.emplace(inside, std::move(done));
  begin_circuit(port, std::move(pair->outer), inside);
}

Status Transport::call(const PeerId& anchor, const PeerId& target, std::uint16_t port) {
  Connection* connection = carrier_to(anchor);
  if (connection == nullptr) return fail(Kind::disconnected, "there is no connection to the anchor {}", anchor.hex());
  const Time now = steady_now();
  std::erase_if(calls_, [&](const auto& call) { return call.second <= now; });
  if (calls_.size() >= kMaxCalls) return fail(Kind::overloaded, "{} peers are being called already", calls_.size());
  ByteWriter payload;
  payload.bytes(target.bytes);
  payload.u16(port);
  GW_TRY_VOID(connection->send_frame({FrameKind::call, Lane::control, 0, payload.take()}));
  calls_[target] = now + kCallPatience;
  return ok();
}

void Transport::probe(const Endpoint& where, const PeerId& expected, Probed done) {
  if (stopping_ || probes_ >= config_.probes)
    return refuse([done = std::move(done)](const Result<PeerId>& why) { done(why.error()); },
                  fail(Kind::overloaded, "{} probes are under way already", probes_));
  ++probes_;
  servers_.spawn("probe", run_probe(where, expected, std::move(done)));
}

asio::awaitable<void> Transport::run_probe(Endpoint where, PeerId expected, Probed done) {
  done(co_await gw::transport::probe(io_, tls_, where, expected));
  --probes_;
}

// A circuit runs over a connection of two peers, never inside another circuit.
Connection* Transport::carrier_to(const PeerId& peer) const {
  Connection* connection = to(peer);
  return connection != nullptr && connection->way() != Way::relayed ? connection : nullptr;
}

// --- requests of others

Status Transport::on_circuit_frame(Connection& connection, const Frame& frame) {
  if (connection.way() == Way::relayed) return fail(Kind::invalid, "it wants a circuit inside a circuit");
  const Port port{connection.number(), frame.stream};
  switch (frame.kind) {
    case FrameKind::call:
      return on_call(connection, frame);
    case FrameKind::called:
      return on_called(connection, frame);
    case FrameKind::circuit_open:
      return on_circuit_open(connection, frame);
    case FrameKind::circuit_offer:
      return on_circuit_offer(connection, frame);
    default:
      if (relay_.carries(port)) return on_carried(port, frame);
      return ends_.contains(port) ? on_own(port, frame) : ok();  // it was closed meanwhile
  }
}

Status Transport::on_call(Connection& connection, const Frame& frame) {
  ByteReader reader(frame.payload);
  GW_TRY(const PeerId target, read_peer(reader));
  GW_TRY(const std::uint16_t port, reader.u16());
  if (port == 0 || !reader.at_end()) return fail(Kind::invalid, "it wants to be dialled, but does not say at which port");
  const Time now = steady_now();
  TokenBucket& rate = call_rates_.try_emplace(*connection.peer(), config_.called, now).first->second;
  Connection* there = carrier_to(target);
  if (there == nullptr || rate.paid(now) > now) return ok();  // the caller has other ways
  rate.take(now, 1);
  ByteWriter payload;
  payload.bytes(connection.peer()->bytes);
  write_endpoint(payload, Endpoint(connection.remote().address(), port));
  (void)there->send_frame({FrameKind::called, Lane::control, 0, payload.take()});
  return ok();
}

// Takes calls only from own anchors: another peer could make this one dial any address.
Status Transport::on_called(Connection& connection, const Frame& frame) {
  ByteReader reader(frame.payload);
  GW_TRY(const PeerId caller, read_peer(reader));
  GW_TRY(const Endpoint where, read_endpoint(reader, frame.payload));
  const auto answering =
      std::ranges::count_if(connections_, [](const auto& one) { return one.second->way() == Way::reverse && !one.second->was_ready(); });
  if (!anchors_.contains(*connection.peer()) || caller == self_ || carrier_to(caller) != nullptr || stopping_ ||
      static_cast<std::size_t>(answering) >= config_.calls)
    return ok();
  start({.socket = Socket(io_), .remote = where, .dialer = Dialer::us, .expected = caller, .way = Way::reverse});
  return ok();
}

// The side that opens a circuit chooses its number: odd if that side has dialled the connection, even otherwise.
bool Transport::is_free(const Connection& connection, const Port& port) const {
  const bool odd = port.stream % 2 == 1;
  return odd == (connection.dialer() == Dialer::them) && !relay_.carries(port) && !ends_.contains(port);
}

Status Transport::on_circuit_open(Connection& connection, const Frame& frame) {
  const Port port{connection.number(), frame.stream};
  GW_TRY(const PeerId target, peer_in(frame));
  if (!is_free(connection, port)) return fail(Kind::invalid, "it opens circuit {} twice, or under a number of ours", port.stream);
  Connection* there = target == *connection.peer() ? nullptr : carrier_to(target);
  std::optional<Relay::End> end;
  if (there != nullptr) end = {{there->number(), there->next_circuit()}, target};
  std::vector<Relay::Outgoing> frames;
  relay_.open(steady_now(), {port, *connection.peer()}, end, frames);
  hand_on(std::move(frames));
  return ok();
}

Status Transport::on_circuit_offer(Connection& connection, const Frame& frame) {
  const Port port{connection.number(), frame.stream};
  GW_TRY(const PeerId caller, peer_in(frame));
  if (!is_free(connection, port)) return fail(Kind::invalid, "it offers circuit {} twice, or under a number of ours", port.stream);
  if (const Status taken = accept_circuit(connection, port, caller); !taken) {
    log::info("transport", "circuit refused", kv("from", caller.hex()), kv("why", taken.error().detail));
    return connection.send_frame({FrameKind::circuit_close, Lane::relayed, port.stream, encode_refusal(taken.error())});
  }
  return ok();
}

// Circuits of one relay count as connections from its address.
Status Transport::accept_circuit(Connection& connection, const Port& port, const PeerId& caller) {
  if (stopping_) return fail(Kind::disconnected, "this peer stops");
  GW_TRY(SocketPair pair, make_socket_pair(io_));
  GW_TRY_VOID(admission_.admit(connection.remote().address().to_string()));
  const std::uint64_t inside = start(
      {.socket = std::move(pair.inner), .remote = connection.remote(), .dialer = Dialer::them, .expected = caller, .way = Way::relayed});
  begin_circuit(port, std::move(pair.outer), inside);
  return ok();
}

// --- circuits that end here

void Transport::begin_circuit(const Port& port, Socket outer, std::uint64_t inside) {
  auto send = [this, port](FrameKind kind, Lane lane, Bytes bytes) -> Status {
    const auto carrier = connections_.find(port.connection);
    if (carrier == connections_.end()) return fail(Kind::disconnected, "the connection to the relay is gone");
    return carrier->second->send_frame({kind, lane, port.stream, std::move(bytes)});
  };
  ends_[port] = {std::make_unique<Circuit>(std::move(outer), std::move(send)), inside};
  set_loss_detection(*connections_.at(port.connection));
  servers_.spawn("circuit", serve_circuit(port));
}

asio::awaitable<void> Transport::serve_circuit(Port port) {
  co_await ends_.at(port).circuit->run();
  ends_.erase(port);
  if (const auto carrier = connections_.find(port.connection); carrier != connections_.end() && carrier->second->open())
    set_loss_detection(*carrier->second);
}

Status Transport::on_own(const Port& port, const Frame& frame) {
  CircuitEnd& end = ends_.at(port);
  if (frame.kind == FrameKind::circuit_data) return end.circuit->on_data(frame.payload);
  if (frame.kind == FrameKind::circuit_credit) {
    GW_TRY(const std::uint32_t bytes, ByteReader(frame.payload).u32());
    return end.circuit->on_credit(bytes);
  }
  end.circuit->on_close();
  const auto inside = connections_.find(end.inside);
  if (inside != connections_.end() && !inside->second->was_ready())
    inside->second->lose_carrier(fmt::format("the relay says: {}", decode_refusal(frame.payload).detail));
  return ok();
}

void Transport::end_circuits(const Connection& carrier) {
  for (auto end = ends_.lower_bound({carrier.number(), 0}); end != ends_.end() && end->first.connection == carrier.number(); ++end)
    end->second.circuit->close();
  std::vector<Relay::Outgoing> frames;
  relay_.on_connection_ended(carrier.number(), frames);
  hand_on(std::move(frames));
}

// --- circuits that only pass

Status Transport::on_carried(const Port& port, const Frame& frame) {
  std::vector<Relay::Outgoing> frames;
  Status status = ok();
  if (frame.kind == FrameKind::circuit_data) {
    status = relay_.on_data(steady_now(), port, frame.payload, frames);
  } else if (frame.kind == FrameKind::circuit_credit) {
    GW_TRY(const std::uint32_t bytes, ByteReader(frame.payload).u32());
    status = relay_.on_credit(port, bytes, frames);
  } else {
    relay_.on_close(steady_now(), port, Bytes(frame.payload.begin(), frame.payload.end()), frames);
  }
  hand_on(std::move(frames));
  return status;
}

void Transport::hand_on(std::vector<Relay::Outgoing> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {  // grows meanwhile
    const Port port{frames[i].connection, frames[i].frame.stream};
    const auto found = connections_.find(port.connection);
    const bool sent = found != connections_.end() && found->second->send_frame(std::move(frames[i].frame)).has_value();
    if (!sent && relay_.carries(port)) relay_.on_stuck(port, frames);
  }
  if (relay_.circuits() == 0 || stopping_) return;
  if (!std::exchange(relay_tended_, true)) return servers_.spawn("relay", tend_relay());
  if (relay_.next_deadline(steady_now()) < relay_due_.expiry()) relay_due_.cancel();
}

asio::awaitable<void> Transport::tend_relay() {
  while (relay_.circuits() > 0 && !stopping_) {
    relay_due_.expires_at(relay_.next_deadline(steady_now()));
    co_await relay_due_.async_wait(kAsTuple);
    std::vector<Relay::Outgoing> frames;
    relay_.on_tick(steady_now(), frames);
    hand_on(std::move(frames));
  }
  relay_tended_ = false;
}

}  // namespace gw::transport
