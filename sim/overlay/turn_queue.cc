#include "overlay/turn_queue.h"

namespace gw::sim::overlay_simulation {

Turn& TurnQueue::add(Host& host, Turn::Kind kind, std::uint32_t other, Time now) {
  const auto number = static_cast<std::uint32_t>(waiting_++);
  if (number == turns_.size()) turns_.emplace_back();
  if (host.last_turn == Turn::kNone)
    first_turns_.push_back(number);
  else
    turns_[host.last_turn].next = number;
  host.last_turn = number;
  Turn& turn = turns_[number];
  turn.host = host.index;
  turn.at = now;
  turn.kind = kind;
  turn.other = other;
  turn.text.clear();
  turn.next = Turn::kNone;
  return turn;
}

}  // namespace gw::sim::overlay_simulation
