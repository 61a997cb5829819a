#pragma once
// A host's turn: its input and its output.

#include <cstdint>
#include <string>
#include <vector>

#include "outcome.h"
#include "overlay/output.h"

namespace gw::sim::overlay_simulation {

// The fate of a message: when it arrives, and when its duplicate does. kNever: not at all.
struct Delivery {
  Time arrives = wire::kNever;
  Time duplicate_arrives = wire::kNever;
};

// The input is set before the turn, the output is carried out after it. The turn itself uses only its host, so hosts can take turns in
// parallel.
struct Turn {
  enum class Kind : std::uint8_t { tick, message, connected, unreachable, reset };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct QueuedMessage {
    std::uint32_t to = 0;
    std::uint32_t to_life = 0;
    bool is_posted = false;  // sent on an open connection; `delivery` is set
    Delivery delivery;
    std::string address;  // to dial if there is no connection; empty: none
    std::string bytes;
  };

  std::uint32_t host = 0;
  Time at{0};
  Kind kind = Kind::tick;
  std::uint32_t other = 0;
  gw::overlay::Failure failure = gw::overlay::Failure::no_answer;
  std::string text;            // message: its bytes; connected: the address that was dialled, empty if the other side dialled
  std::uint32_t next = kNone;  // the turn after this one, of the same host

  std::vector<QueuedMessage> messages;
  std::vector<std::string> dials;
  std::vector<gw::overlay::Located> located;
  Time deadline = wire::kNever;  // of the last turn of a host
  bool is_nonsense = false;      // the message could not be decoded
};

}  // namespace gw::sim::overlay_simulation
