#pragma once
// A host's turn: something has come to it, and it says what it wants.

#include <cstdint>
#include <string>
#include <vector>

#include "outcome.h"
#include "overlay/output.h"

namespace gw::sim::overlay_simulation {

// What happens to a message on its way: when it arrives, and when its double does. kNever: not at all.
struct Delivery {
  Time arrives = wire::kNever;
  Time duplicate_arrives = wire::kNever;
};

// What has come is known before, what is wanted after; in between only the host itself is needed, so hosts can take turns side by side.
struct Turn {
  enum class Kind : std::uint8_t { tick, message, connected, unreachable, reset };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct QueuedMessage {
    std::uint32_t to = 0;
    std::uint32_t to_life = 0;
    bool is_posted = false;  // on a connection that is open: then with its delivery
    Delivery delivery;
    std::string address;  // to dial, if there is no connection; empty: nobody dials
    std::string bytes;
  };

  std::uint32_t host = 0;
  Time at{0};
  Kind kind = Kind::tick;
  std::uint32_t other = 0;
  gw::overlay::Failure failure = gw::overlay::Failure::no_answer;
  std::string text;            // of a message: its bytes; of a connection: the address that was dialled, empty if the other side has
  std::uint32_t next = kNone;  // the turn after this one, of the same host

  std::vector<QueuedMessage> messages;
  std::vector<std::string> dials;
  std::vector<gw::overlay::Located> located;
  Time deadline = wire::kNever;  // of the last turn of a host
  bool is_nonsense = false;      // the message
};

}  // namespace gw::sim::overlay_simulation
