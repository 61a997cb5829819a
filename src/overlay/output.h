#pragma once
// What the overlay wants done: the only thing that leaves it.

#include <string>
#include <variant>
#include <vector>

#include "overlay/descriptor.h"

namespace gw::overlay {

// May be lost, late, doubled. Whoever carries it out makes a connection if there is none, and says Overlay::on_unreachable if nobody is
// there; without address and anchors: only over a connection that is open.
struct Send {
  PeerId to;
  Contact contact;
  Message message;
};
// Somebody unknown, at an address that was configured or remembered. Answered by Overlay::on_connected, if somebody is there.
struct Dial {
  std::string address;
};

// Why somebody could not be dialled: a host said no, or nobody said anything.
enum class Failure : std::uint8_t { refused, no_answer };

// It is there, or not any more.
struct Seen {
  PeerId peer;
  bool alive;
};
// Somebody broke a rule.
struct Refused {
  PeerId peer;
  std::string sentence;
};
// The answer to Overlay::locate() or place().
struct Located {
  std::uint64_t number;
  bool found;
  Descriptor host;
  std::uint32_t hops;
};
// Its membership of the private grid was revoked.
struct Expelled {
  PeerId peer;
};
using Event = std::variant<Seen, Refused, Located, Expelled>;

struct Output {
  std::vector<Send> sends;
  std::vector<Dial> dials;
  std::vector<Event> events;
};

}  // namespace gw::overlay
