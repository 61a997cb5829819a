#pragma once
// Limits so small that every run reaches them.

#include "base/rng.h"
#include "peer/peer.h"

namespace gw::sim {

// Each function makes some limits tiny and leaves others, so that the code at a limit runs even in a grid of four peers. Limits that a
// simulated job needs (threads, blobs) stay.
void randomise(job::Home::Config& config, Rng& rng);
void randomise(job::HostedJob::Config& config, Rng& rng);
void randomise(job::Keeper::Config& config, Rng& rng);
void randomise(job::BlobReferences::Config& config, Rng& rng);
void randomise(job::SlotLeases::Config& config, Rng& rng);
void randomise(job::EffectGate::Config& config, Rng& rng);
// All limits of a peer.
void randomise(peer::Peer::Config& config, Rng& rng);

}  // namespace gw::sim
