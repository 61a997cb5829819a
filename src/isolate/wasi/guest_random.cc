#include "isolate/wasi/guest_random.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gw::isolate {
namespace {

constexpr std::size_t kBlockBytes = 64;
using Words = std::array<std::uint32_t, 16>;

void quarter_round(Words& w, int a, int b, int c, int d) {
  w[a] += w[b], w[d] = std::rotl(w[d] ^ w[a], 16);
  w[c] += w[d], w[b] = std::rotl(w[b] ^ w[c], 12);
  w[a] += w[b], w[d] = std::rotl(w[d] ^ w[a], 8);
  w[c] += w[d], w[b] = std::rotl(w[b] ^ w[c], 7);
}

std::array<std::uint8_t, kBlockBytes> block(const GuestRandom::Seed& key, std::uint64_t counter) {
  Words start = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  std::memcpy(&start[4], key.data(), key.size());
  start[12] = static_cast<std::uint32_t>(counter);
  start[13] = static_cast<std::uint32_t>(counter >> 32);
  Words w = start;
  for (int round = 0; round < 10; round++) {
    quarter_round(w, 0, 4, 8, 12), quarter_round(w, 1, 5, 9, 13), quarter_round(w, 2, 6, 10, 14), quarter_round(w, 3, 7, 11, 15);
    quarter_round(w, 0, 5, 10, 15), quarter_round(w, 1, 6, 11, 12), quarter_round(w, 2, 7, 8, 13), quarter_round(w, 3, 4, 9, 14);
  }
  for (std::size_t i = 0; i < w.size(); i++) w[i] += start[i];
  return std::bit_cast<std::array<std::uint8_t, kBlockBytes>>(w);
}

}  // namespace

void GuestRandom::fill(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    auto bytes = block(seed_, position_ / kBlockBytes);
    std::size_t offset = position_ % kBlockBytes;
    std::size_t count = std::min(out.size(), kBlockBytes - offset);
    std::memcpy(out.data(), bytes.data() + offset, count);
    out = out.subspan(count);
    position_ += count;
  }
}

}  // namespace gw::isolate
