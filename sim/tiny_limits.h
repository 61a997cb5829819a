#pragma once
// Limits so small that every run comes to them.

#include "base/rng.h"
#include "peer/peer.h"

namespace gw::sim {

// Each leaves some limits as they are and makes others tiny: what happens at a limit happens in a grid of four peers, too. A limit that a
// job of the simulation cannot do without (its threads, its blobs) stays.
void randomise(job::Home::Config& config, Rng& rng);
void randomise(job::HostedJob::Config& config, Rng& rng);
void randomise(job::Keeper::Config& config, Rng& rng);
void randomise(job::BlobReferences::Config& config, Rng& rng);
void randomise(job::SlotLeases::Config& config, Rng& rng);
// All of them.
void randomise(peer::Peer::Config& config, Rng& rng);

}  // namespace gw::sim
