#include "faults/tiny_limits.h"

namespace gw::sim {
namespace {

using std::chrono::milliseconds;

// Changes the limit with probability 1/2.
void draw(std::size_t& limit, std::size_t least, std::size_t most, Rng& rng) {
  const std::size_t drawn = least + rng.below(most - least + 1);
  if (rng.below(2) == 0) limit = drawn;
}

void draw(job::Time& time, milliseconds least, milliseconds most, Rng& rng) {
  const milliseconds drawn = least + milliseconds(rng.below(static_cast<std::uint64_t>((most - least).count()) + 1));
  if (rng.below(2) == 0) time = drawn;
}

}  // namespace

void randomise(job::Home::Config& config, Rng& rng) {
  draw(config.retry, milliseconds(100), milliseconds(3000), rng);
  config.slots.retry = config.retry;
  draw(config.slots.renew, milliseconds(500), milliseconds(10'000), rng);
  draw(config.slots.search.wait, milliseconds(100), milliseconds(1000), rng);
  draw(config.slots.idle, milliseconds(100), milliseconds(20'000), rng);
  draw(config.placement.batch, milliseconds(1), milliseconds(5000), rng);
  draw(config.placement.threads_per_claim, 1, 6, rng);
  draw(config.keepers.retry, milliseconds(100), milliseconds(3000), rng);
  draw(config.keepers.look, milliseconds(500), milliseconds(20'000), rng);
}

void randomise(job::HostedJob::Config& config, Rng& rng) {
  draw(config.thread.retry, milliseconds(100), milliseconds(3000), rng);
  draw(config.status_every, milliseconds(300), milliseconds(8000), rng);
  draw(config.code.chunk_waits, 1, 4, rng);
  config.code.files.bytes = 256;  // a few lists
  draw(config.threads.threads, 1, 6, rng);
  draw(config.thread.checkpoint_determinants, 1, 16, rng);
}

void randomise(job::Keeper::Config& config, Rng& rng) { draw(config.ask_every, milliseconds(500), milliseconds(20'000), rng); }

void randomise(job::BlobReferences::Config& config, Rng& rng) {
  draw(config.in_flight, 1, 4, rng);
  draw(config.waiters, 1, 3, rng);
  draw(config.sources, 1, 2, rng);
  draw(config.unstored_bytes, 1, 4096, rng);
  draw(config.retry, milliseconds(100), milliseconds(3000), rng);
}

void randomise(job::SlotLeases::Config& config, Rng& rng) {
  draw(config.offer_for, milliseconds(300), milliseconds(6000), rng);
  draw(config.lease_for, milliseconds(15'000), milliseconds(80'000), rng);  // checkers wait for 90 s
}

void randomise(job::EffectGate::Config& config, Rng& rng) {
  draw(config.outbox_effects, 1, 4, rng);
  draw(config.outbox_bytes, 1, 200, rng);
  draw(config.unstable_determinants, 1, 6, rng);
  draw(config.outbox_spawns, 1, 3, rng);
}

void randomise(peer::Peer::Config& config, Rng& rng) {
  randomise(config.home, rng);
  randomise(config.hosted_job, rng);
  randomise(config.keeper, rng);
  randomise(config.blobs, rng);
  randomise(config.slots, rng);
  draw(config.disk_queue.batches, 1, 4, rng);
  if (config.disk_queue.batches <= 4) config.disk_queue.waiting = 8 * config.disk_queue.batches;
  draw(config.boot_numbers.peers, 2, 6, rng);
}

}  // namespace gw::sim
