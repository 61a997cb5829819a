#include "overlay/turn_taker.h"

#include "wire/messages/overlay_messages.h"

namespace gw::sim::overlay_simulation {

using gw::overlay::Output;
using gw::overlay::Overlay;

TurnTaker::TurnTaker(const Environment& environment, OnLocated on_located, unsigned threads)
    : environment_(environment),
      on_located_(std::move(on_located)),
      thread_buffers_(threads),
      thread_pool_(threads, [this](std::uint32_t item, unsigned thread_index) {
        take_turns_of(environment_.turns.first_turns()[item], thread_buffers_[thread_index]);
      }) {}

void TurnTaker::take_turns() {
  TurnQueue& turns = environment_.turns;
  thread_pool_.for_each(static_cast<std::uint32_t>(turns.first_turns().size()));
  turns.forget_first_turns();
  for (std::size_t i = 0; i < turns.size(); ++i) carry_out(turns.at(i));
  turns.clear();
}

void TurnTaker::take_turn_now(Host& host, const Act& act) {
  const Time now = environment_.agenda.now();
  Turn turn{.host = host.index, .at = now};
  Output out;
  act(*host.overlay, host.local(now), out);
  pack(host, out, turn);
  turn.deadline = host.overlay->next_deadline();
  carry_out(turn);
}

// Called on any thread. Writes only to the host, its ends of connections, its turns and the buffers.
void TurnTaker::take_turns_of(std::uint32_t first, ThreadBuffers& buffers) {
  TurnQueue& turns = environment_.turns;
  Host& host = environment_.population.hosts[turns.at(first).host];
  host.last_turn = Turn::kNone;
  for (std::uint32_t number = first; number != Turn::kNone; number = turns.at(number).next) {
    Turn& turn = turns.at(number);
    take(turn, buffers);
    turn.deadline = turn.next == Turn::kNone ? host.overlay->next_deadline() : wire::kNever;
  }
}

void TurnTaker::take(Turn& turn, ThreadBuffers& buffers) {
  Host& host = environment_.population.hosts[turn.host];
  Overlay& overlay = *host.overlay;
  const Time now = host.local(turn.at);
  const gw::overlay::PeerId& other = environment_.population.hosts[turn.other].id;
  Output& out = buffers.out;
  turn.is_nonsense = false;
  switch (turn.kind) {
    case Turn::Kind::tick:
      overlay.on_tick(now, out);
      break;
    case Turn::Kind::message:
      environment_.network.use_link(turn.host, turn.other, turn.at);
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

void TurnTaker::pack_message(Host& host, gw::overlay::Send& send, Turn& turn) {
  std::string bytes = send.message.SerializeAsString();
  host.bytes_sent += bytes.size();
  ++host.messages_sent;
  const auto known = environment_.population.index.find(send.to.hash);
  if (known == environment_.population.index.end()) return;  // an invented peer
  const std::uint32_t to = known->second;
  const bool is_posted = environment_.network.use_link(host.index, to, turn.at);
  turn.messages.push_back({.to = to,
                           .to_life = environment_.population.hosts[to].life,
                           .is_posted = is_posted,
                           .delivery = is_posted ? environment_.network.plan_delivery(host, to, turn.at) : Delivery(),
                           .address = std::move(send.contact.address),
                           .bytes = std::move(bytes)});
}

void TurnTaker::pack(Host& host, Output& out, Turn& turn) {
  for (gw::overlay::Send& send : out.sends) {
    if (host.byzantine == nullptr) {
      pack_message(host, send, turn);
      continue;
    }
    for (gw::overlay::Send& lie : host.byzantine->twist(std::move(send))) pack_message(host, lie, turn);
  }
  for (gw::overlay::Dial& dial : out.dials) turn.dials.push_back(std::move(dial.address));
  for (gw::overlay::Event& event : out.events)
    if (auto* located = std::get_if<gw::overlay::Located>(&event)) turn.located.push_back(std::move(*located));
  out.sends.clear();
  out.dials.clear();
  out.events.clear();
}

void TurnTaker::carry_out(Turn& turn) {
  environment_.agenda.set_now(turn.at);
  Host& host = environment_.population.hosts[turn.host];
  if (turn.is_nonsense && environment_.population.hosts[turn.other].byzantine == nullptr)
    environment_.log.complain(Verdict::safety, "an honest peer sent a message that breaks the rules");
  for (const std::string& address : turn.dials)
    if (const auto to = environment_.population.at_address(address); to && *to != host.index) environment_.network.dial(host, *to, address);
  for (Turn::QueuedMessage& queued : turn.messages) environment_.network.send(host, queued);
  for (const gw::overlay::Located& located : turn.located) on_located_(host, located);
  arm(host, turn.deadline);
  turn.dials.clear();
  turn.messages.clear();
  turn.located.clear();
}

void TurnTaker::arm(Host& host, Time deadline) {
  if (deadline == wire::kNever) return;
  const Time when = std::max(environment_.agenda.next_window(), host.world(deadline));
  if (when >= host.tick_at) return;  // the earlier tick computes the next deadline
  host.tick_at = when;
  environment_.agenda.push({.at = when, .host = host.index, .kind = Event::Kind::tick});
}

}  // namespace gw::sim::overlay_simulation
