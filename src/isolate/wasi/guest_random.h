#pragma once
// The random numbers of a guest: decided by its seed alone, wherever it runs.

#include <array>
#include <cstdint>
#include <span>

namespace gw::isolate {

// The key stream of ChaCha20 (RFC 8439, nonce 0) with the seed as key, byte by byte; the block counter has 64 bits, as in the original by
// Bernstein. A value whose state is the seed and the number of bytes drawn, so that an image can carry it and any engine go on.
class GuestRandom {
 public:
  using Seed = std::array<std::uint8_t, 32>;

  GuestRandom() = default;
  GuestRandom(const Seed& seed, std::uint64_t position) : seed_(seed), position_(position) {}

  void fill(std::span<std::uint8_t> out);

  const Seed& seed() const { return seed_; }
  std::uint64_t position() const { return position_; }
  bool operator==(const GuestRandom&) const = default;

 private:
  Seed seed_{};
  std::uint64_t position_ = 0;
};

}  // namespace gw::isolate
