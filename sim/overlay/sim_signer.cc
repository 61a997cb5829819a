#include "overlay/sim_signer.h"

#include <cstring>

#include "base/rng.h"

namespace gw::sim::overlay_simulation {
namespace {

std::uint64_t fast_hash(ByteView bytes, std::uint64_t seed) {
  std::uint64_t hash = seed ^ (bytes.size() * 0x9e3779b97f4a7c15u);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
  }
  return hash;
}

template <class Array>
Array spread(std::uint64_t seed) {
  Array bytes;
  Rng rng(seed);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = rng.next();
    std::memcpy(bytes.data() + at, &word, 8);
  }
  return bytes;
}

}  // namespace

gw::overlay::PeerId SimSigner::id_of(const PublicKey& key) const {
  return {Hash256{spread<std::array<std::uint8_t, 32>>(fast_hash(key, 1))}};
}

Signature SimSigner::made_by(const PublicKey& key, ByteView text) const {
  return spread<Signature>(fast_hash(text, fast_hash(key, secret_)));
}

PublicKey sim_key(std::uint64_t seed, std::uint32_t number) { return spread<PublicKey>(Rng(seed ^ (number * 0x2545f4914f6cdd1du)).next()); }

}  // namespace gw::sim::overlay_simulation
