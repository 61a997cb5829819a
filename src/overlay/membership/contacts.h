#pragma once
// The peers that this peer knows.

#include <vector>

#include "overlay/membership/descriptor.h"

namespace gw::overlay {

// The interface through which a machine finds peers in the tables of all machines; tests use a map instead.
class Contacts {
 public:
  virtual ~Contacts() = default;
  // The newest of all tables; nullptr: unknown. Valid until the next change of a table.
  virtual const Descriptor* find(const PeerId& peer) const = 0;
  virtual std::vector<PeerId> all() const = 0;  // sorted, each once, without this peer
  // The peer has not answered lately: routes bypass it, answers do not recommend it, tables keep it.
  virtual bool is_suspected(const PeerId& peer) const = 0;
  // A message of the peer arrived not long ago, so there is a way between the two.
  virtual bool was_seen(const PeerId& peer) const = 0;
};

}  // namespace gw::overlay
