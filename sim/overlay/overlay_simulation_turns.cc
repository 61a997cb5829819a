// What hosts do when something comes to them.

#include "overlay/overlay_simulation.h"
#include "wire/overlay_messages.h"

namespace gw::sim::overlay_simulation {

using gw::overlay::Output;
using gw::overlay::Overlay;

Turn& OverlaySimulation::await_turn(Host& host, Turn::Kind kind, std::uint32_t other) {
  const auto number = static_cast<std::uint32_t>(waiting_++);
  if (number == turns_.size()) turns_.emplace_back();
  if (host.last_turn == Turn::kNone)
    first_turns_.push_back(number);
  else
    turns_[host.last_turn].next = number;
  host.last_turn = number;
  Turn& turn = turns_[number];
  turn.host = host.index;
  turn.at = now_;
  turn.kind = kind;
  turn.other = other;
  turn.text.clear();
  turn.next = Turn::kNone;
  return turn;
}

void OverlaySimulation::take_turns() {
  thread_pool_.for_each(static_cast<std::uint32_t>(first_turns_.size()));
  first_turns_.clear();
  for (std::size_t i = 0; i < waiting_; ++i) carry_out(turns_[i]);
  waiting_ = 0;
}

// On any thread. Writes to nothing but the host, its ends of connections, its turns and the buffers.
void OverlaySimulation::take_turns_of(std::uint32_t first, ThreadBuffers& buffers) {
  Host& host = hosts_[turns_[first].host];
  host.last_turn = Turn::kNone;
  for (std::uint32_t number = first; number != Turn::kNone; number = turns_[number].next) {
    Turn& turn = turns_[number];
    take(turn, buffers);
    turn.deadline = turn.next == Turn::kNone ? host.overlay->next_deadline() : wire::kNever;
  }
}

void OverlaySimulation::take(Turn& turn, ThreadBuffers& buffers) {
  Host& host = hosts_[turn.host];
  Overlay& overlay = *host.overlay;
  const Time now = host.local(turn.at);
  const gw::overlay::PeerId& other = hosts_[turn.other].id;
  Output& out = buffers.out;
  turn.is_nonsense = false;
  switch (turn.kind) {
    case Turn::Kind::tick:
      overlay.on_tick(now, out);
      break;
    case Turn::Kind::message:
      links_.use(turn.host, turn.other, turn.at);
      turn.is_nonsense = !buffers.received.ParseFromString(turn.text) || !wire::check(buffers.received);
      if (turn.is_nonsense) break;
      if (host.byzantine != nullptr) host.byzantine->overhear(buffers.received);
      overlay.on_message(now, other, buffers.received, out);
      break;
    case Turn::Kind::connected:
      overlay.on_connected(now, other, turn.text, out);
      break;
    case Turn::Kind::unreachable:
      overlay.on_unreachable(now, other, turn.failure, out);
      break;
    case Turn::Kind::reset:
      overlay.on_reset(now, other, out);
      break;
  }
  pack(host, out, turn);
}

void OverlaySimulation::pack(Host& host, Output& out, Turn& turn) {
  const auto pack_one = [&](gw::overlay::Send& send) {
    std::string bytes = send.message.SerializeAsString();
    host.bytes_sent += bytes.size();
    ++host.messages_sent;
    const auto known = index_.find(send.to.hash);
    if (known == index_.end()) return;  // a liar's invention
    const std::uint32_t to = known->second;
    const bool is_posted = links_.use(host.index, to, turn.at);
    turn.messages.push_back({.to = to,
                             .to_life = hosts_[to].life,
                             .is_posted = is_posted,
                             .delivery = is_posted ? plan_delivery(host, to, turn.at) : Delivery(),
                             .address = std::move(send.contact.address),
                             .bytes = std::move(bytes)});
  };
  for (gw::overlay::Send& send : out.sends) {
    if (host.byzantine == nullptr) {
      pack_one(send);
      continue;
    }
    for (gw::overlay::Send& lie : host.byzantine->twist(std::move(send))) pack_one(lie);
  }
  for (gw::overlay::Dial& dial : out.dials) turn.dials.push_back(std::move(dial.address));
  for (gw::overlay::Event& event : out.events)
    if (auto* located = std::get_if<gw::overlay::Located>(&event)) turn.located.push_back(std::move(*located));
  out.sends.clear();
  out.dials.clear();
  out.events.clear();
}

void OverlaySimulation::carry_out(Turn& turn) {
  now_ = turn.at;
  Host& host = hosts_[turn.host];
  if (turn.is_nonsense && hosts_[turn.other].byzantine == nullptr)
    complain(Verdict::safety, "an honest peer sent a message that breaks the rules");
  for (const std::string& address : turn.dials)
    if (const auto to = host_at(address); to && *to != host.index) dial(host, *to, address, std::nullopt);
  for (Turn::QueuedMessage& queued : turn.messages) send(host, queued);
  for (const gw::overlay::Located& located : turn.located) on_located(host, located);
  arm(host, turn.deadline);
  turn.dials.clear();
  turn.messages.clear();
  turn.located.clear();
}

void OverlaySimulation::arm(Host& host, Time deadline) {
  if (deadline == wire::kNever) return;
  const Time when = std::max(next_window_, host.world(deadline));
  if (when >= host.tick_at) return;  // it will look again then
  host.tick_at = when;
  queue_.push({.at = when, .host = host.index, .kind = Event::Kind::tick});
}

}  // namespace gw::sim::overlay_simulation
