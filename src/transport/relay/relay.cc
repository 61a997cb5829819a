#include "transport/relay/relay.h"

#include <algorithm>
#include <utility>

#include "transport/peer_text.h"

namespace gw::transport {
namespace {

Relay::Outgoing control(const Port& to, FrameKind kind, Bytes payload) {
  return {to.connection, {.kind = kind, .lane = Lane::control, .stream = to.stream, .bytes = std::move(payload)}};
}

// In the same lane, so that nothing overtakes the bytes before it.
Relay::Outgoing carried(const Port& to, FrameKind kind, Bytes payload) {
  return {to.connection, {.kind = kind, .lane = Lane::relayed, .stream = to.stream, .bytes = std::move(payload)}};
}

}  // namespace

Status Relay::check_room(const PeerId& from, const PeerId& to) const {
  const auto of = [this](Side side, const PeerId& peer) {
    return static_cast<std::size_t>(std::ranges::count_if(circuits_, [&](const auto& one) { return one.second.ends[side].peer == peer; }));
  };
  if (circuits_.size() >= config_.circuits) return fail(Kind::overloaded, "this peer carries {} circuits already", circuits_.size());
  if (of(0, from) >= config_.per_peer)
    return fail(Kind::overloaded, "this peer carries {} circuits for one peer, not more", config_.per_peer);
  if (of(1, to) >= config_.to_peer) return fail(Kind::overloaded, "{} circuits lead to that peer already", config_.to_peer);
  return ok();
}

void Relay::open(Time now, const End& from, const std::optional<End>& to, std::vector<Outgoing>& out) {
  Status room = to ? check_room(from.peer, to->peer) : fail(Kind::not_found, "this peer has no connection of its own to the one wanted");
  if (!room) {
    ++counters_.refused;
    return out.push_back(control(from.port, FrameKind::circuit_close, encode_refusal(room.error())));
  }
  const std::uint64_t circuit = next_++;
  circuits_.emplace(circuit, Circuit{{from, *to}, {kCircuitCredit, kCircuitCredit}, std::nullopt, now});
  ports_[from.port] = {circuit, 0};
  ports_[to->port] = {circuit, 1};
  ++counters_.opened;
  out.push_back(control(to->port, FrameKind::circuit_offer, Bytes(from.peer.bytes.begin(), from.peer.bytes.end())));
}

Status Relay::on_data(Time now, const Port& port, ByteView bytes, std::vector<Outgoing>& out) {
  const CircuitSide circuit_side = ports_.at(port);
  Circuit& circuit = circuits_.at(circuit_side.circuit);
  if (bytes.empty() || bytes.size() > circuit.credit[circuit_side.side])
    return fail(Kind::invalid, "it sent more into a circuit than it may");
  circuit.credit[circuit_side.side] -= bytes.size();
  circuit.used = now;
  if (circuit.closed) return ok();  // its other end reads no more
  if (Status waits = share_.push(flow_of(circuit_side), Bytes(bytes.begin(), bytes.end())); !waits) {
    const Bytes reason = encode_refusal(waits.error());
    out.push_back(control(port, FrameKind::circuit_close, reason));
    finish(circuit_side.circuit, 1 - circuit_side.side, reason, out);
    return ok();
  }
  counters_.bytes += bytes.size();
  hand_on(now, out);
  return ok();
}

Status Relay::on_credit(const Port& port, std::uint32_t bytes, std::vector<Outgoing>& out) {
  const CircuitSide circuit_side = ports_.at(port);
  Circuit& circuit = circuits_.at(circuit_side.circuit);
  const Side sender = 1 - circuit_side.side;
  if (bytes > kCircuitCredit - circuit.credit[sender]) return fail(Kind::invalid, "it gives credit for bytes that were never sent");
  circuit.credit[sender] += bytes;
  ByteWriter payload;
  payload.u32(bytes);
  out.push_back(control(circuit.ends[sender].port, FrameKind::circuit_credit, payload.take()));
  return ok();
}

void Relay::on_close(Time now, const Port& port, Bytes reason, std::vector<Outgoing>& out) {
  const CircuitSide circuit_side = ports_.at(port);
  if (!share_.waits(flow_of(circuit_side))) return finish(circuit_side.circuit, 1 - circuit_side.side, std::move(reason), out);
  circuits_.at(circuit_side.circuit).closed = std::move(reason);
  share_.drop(flow_of({circuit_side.circuit, 1 - circuit_side.side}));
  hand_on(now, out);
}

void Relay::hand_on(Time now, std::vector<Outgoing>& out) {
  while (auto piece = share_.take(now)) {
    const CircuitSide circuit_side{piece->flow / 2, piece->flow % 2};
    Circuit& circuit = circuits_.at(circuit_side.circuit);
    out.push_back(carried(circuit.ends[1 - circuit_side.side].port, FrameKind::circuit_data, std::move(piece->bytes)));
    if (circuit.closed && !share_.waits(piece->flow)) finish(circuit_side.circuit, 1 - circuit_side.side, *std::move(circuit.closed), out);
  }
}

// Tells one side, which may not know yet, and forgets it.
void Relay::finish(std::uint64_t circuit, Side told, Bytes reason, std::vector<Outgoing>& out) {
  out.push_back(carried(circuits_.at(circuit).ends[told].port, FrameKind::circuit_close, std::move(reason)));
  erase(circuit);
}

void Relay::erase(std::uint64_t circuit) {
  for (const End& end : circuits_.at(circuit).ends) ports_.erase(end.port);
  for (const Side side : {0, 1}) share_.drop(flow_of({circuit, side}));
  circuits_.erase(circuit);
}

void Relay::on_stuck(const Port& port, std::vector<Outgoing>& out) {
  const std::uint64_t circuit = ports_.at(port).circuit;
  const Bytes reason = encode_refusal(fail(Kind::overloaded, "one end of the circuit does not take what it is sent"));
  for (const End& end : circuits_.at(circuit).ends) out.push_back(control(end.port, FrameKind::circuit_close, reason));
  erase(circuit);
}

void Relay::on_connection_ended(std::uint64_t connection, std::vector<Outgoing>& out) {
  const Bytes reason = encode_refusal(fail(Kind::disconnected, "the other end's connection to the relay ended"));
  for (auto found = ports_.lower_bound({connection, 0}); found != ports_.end() && found->first.connection == connection;
       found = ports_.lower_bound({connection, 0}))
    finish(found->second.circuit, 1 - found->second.side, reason, out);
}

void Relay::on_tick(Time now, std::vector<Outgoing>& out) {
  hand_on(now, out);
  const auto unused = [&] {
    return std::ranges::find_if(circuits_, [&](const auto& one) { return one.second.used + config_.idle <= now; });
  };
  for (auto found = unused(); found != circuits_.end(); found = unused()) {
    const Bytes reason = encode_refusal(fail(Kind::timeout, "the circuit was unused for {} s", config_.idle.count()));
    out.push_back(carried(found->second.ends[0].port, FrameKind::circuit_close, reason));
    finish(found->first, 1, reason, out);
  }
}

Time Relay::next_deadline(Time now) {
  Time next = share_.next_deadline(now);
  for (const auto& [number, circuit] : circuits_) next = std::min(next, circuit.used + config_.idle);
  return next;
}

}  // namespace gw::transport
