#pragma once
// Describes messages in words, for readers of a trace.

#include <string>

#include "wire/peer.pb.h"

namespace gw::sim {

// The kind, thread, epoch and other important fields; empty for gossip.
std::string describe(const wire::pb::PeerMessage& message);

}  // namespace gw::sim
