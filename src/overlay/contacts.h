#pragma once
// Whom this peer knows.

#include <vector>

#include "overlay/descriptor.h"

namespace gw::overlay {

// The view that machines have of everybody's tables: Overlay looks into all of them, tests into a map.
class Contacts {
 public:
  virtual ~Contacts() = default;
  // The newest of all tables; nullptr: unknown. Valid until the next change of a table.
  virtual const Descriptor* find(const PeerId& peer) const = 0;
  virtual std::vector<PeerId> all() const = 0;  // sorted, each once, without this peer
  // It has not answered lately: to be bypassed, not to be recommended, not to be dropped.
  virtual bool is_suspected(const PeerId& peer) const = 0;
  // It has spoken to this peer not long ago: there is a way between the two.
  virtual bool was_seen(const PeerId& peer) const = 0;
};

}  // namespace gw::overlay
