#pragma once
// Actions of the overlay: its only output.

#include <string>
#include <variant>
#include <vector>

#include "overlay/membership/descriptor.h"

namespace gw::overlay {

// A message, which may be lost, late or duplicated. The driver makes a connection if there is none, and calls Overlay::on_unreachable if
// the peer cannot be reached; without address and anchors the message goes only over an open connection.
struct Send {
  PeerId to;
  Contact contact;
  Message message;
};
// Dials an address that was configured or remembered. Answered by Overlay::on_connected if a peer is there.
struct Dial {
  std::string address;
};

// Why a dial failed: a host refused it, or there was no answer.
enum class Failure : std::uint8_t { refused, no_answer };

// The peer is alive, or not any more.
struct Seen {
  PeerId peer;
  bool alive;
};
// The peer broke a rule.
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
// The peer's membership of the private grid was revoked.
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
