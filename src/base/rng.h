#pragma once
// Seeded random numbers. The sequence is part of the identity of a test run or an isolate, so it never changes
// (the distributions of the standard library are not portable).

#include <cstdint>

#include "base/check.h"

namespace gw {

// SplitMix64. A value: copying it copies the position in the sequence.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, limit). REQUIRES: limit > 0. Multiplication instead of modulo: no division, and a bias below 2^-64 * limit.
  std::uint64_t below(std::uint64_t limit) {
    GW_DCHECK(limit > 0);
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * limit) >> 64);
  }

  // Rng(rng.state()) goes on with the same sequence.
  std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace gw
