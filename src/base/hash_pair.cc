// SHA-256 of two stretches at once, by the processor's own instructions. Each of these waits for the one before: with a second hash between
// them, they do twice the work in the same time. No library in Debian does this for plain SHA-256.

#include "base/hash.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>

#define GW_SHA [[gnu::target("sha,sse4.1")]]

namespace gw {
namespace {

constexpr std::size_t kLanes = 2;
constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kLengthBytes = 8;

// FIPS 180-4, 4.2.2.
alignas(16) constexpr std::array<std::uint32_t, 64> kConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The eight words of a hash, in the order the instructions want them: highest first.
struct Words {
  __m128i abef, cdgh;
};
using Pair = std::array<Words, kLanes>;
using BlockPointers = std::array<const std::uint8_t*, kLanes>;

GW_SHA Words initial() {  // FIPS 180-4, 5.3.3
  return {_mm_setr_epi32(static_cast<int>(0x9b05688c), 0x510e527f, static_cast<int>(0xbb67ae85), 0x6a09e667),
          _mm_setr_epi32(0x5be0cd19, 0x1f83d9ab, static_cast<int>(0xa54ff53a), 0x3c6ef372)};
}

// The next four words of the message schedule; `last` are the sixteen before them, a ring that begins at `first`.
GW_SHA __m128i expand(const std::array<__m128i, 4>& last, std::size_t first) {
  const __m128i third = last[(first + 2) % 4], fourth = last[(first + 3) % 4];
  const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(last[first], last[(first + 1) % 4]), _mm_alignr_epi8(fourth, third, 4));
  return _mm_sha256msg2_epu32(sum, fourth);
}

GW_SHA void add_blocks(Pair& hashes, const BlockPointers& data, std::size_t blocks) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  Pair words = hashes;
  for (std::size_t block = 0; block < blocks; ++block) {
    const Pair before = words;
    std::array<std::array<__m128i, 4>, kLanes> schedule;
#pragma clang loop unroll(full)
    for (std::size_t step = 0; step < 16; ++step) {  // of four rounds each
      const __m128i constants = _mm_load_si128(reinterpret_cast<const __m128i*>(&kConstants[4 * step]));
#pragma clang loop unroll(full)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto* input = reinterpret_cast<const __m128i*>(data[lane] + block * kBlockBytes);
        __m128i& next = schedule[lane][step % 4];
        next = step < 4 ? _mm_shuffle_epi8(_mm_loadu_si128(input + step), big_endian) : expand(schedule[lane], step % 4);
        const __m128i sum = _mm_add_epi32(next, constants);
        Words& hash = words[lane];
        hash.cdgh = _mm_sha256rnds2_epu32(hash.cdgh, hash.abef, sum);
        hash.abef = _mm_sha256rnds2_epu32(hash.abef, hash.cdgh, _mm_shuffle_epi32(sum, 0x0e));
      }
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      words[lane].abef = _mm_add_epi32(words[lane].abef, before[lane].abef);
      words[lane].cdgh = _mm_add_epi32(words[lane].cdgh, before[lane].cdgh);
    }
  }
  hashes = words;
}

// The bytes after the last whole block: the rest, a one, zeros, the length in bits.
class Ending {
 public:
  explicit Ending(ByteView whole) {
    const ByteView rest = whole.last(whole.size() % kBlockBytes);
    std::ranges::copy(rest, bytes_.begin());
    bytes_[rest.size()] = 0x80;
    blocks_ = rest.size() + 1 + kLengthBytes <= kBlockBytes ? 1 : 2;
    const std::uint64_t bits = 8 * static_cast<std::uint64_t>(whole.size());
    for (std::size_t i = 0; i < kLengthBytes; ++i) bytes_[blocks_ * kBlockBytes - 1 - i] = static_cast<std::uint8_t>(bits >> (8 * i));
  }
  const std::uint8_t* data() const { return bytes_.data(); }
  std::size_t blocks() const { return blocks_; }

 private:
  std::array<std::uint8_t, 2 * kBlockBytes> bytes_{};
  std::size_t blocks_;
};

GW_SHA Hash256 finished(const Words& words) {
  std::array<std::uint32_t, 4> feba, hgdc;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(feba.data()), words.abef);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(hgdc.data()), words.cdgh);
  Hash256 hash;
  std::size_t at = 0;
  for (const std::uint32_t word : {feba[3], feba[2], hgdc[3], hgdc[2], feba[1], feba[0], hgdc[1], hgdc[0]}) {
    const std::uint32_t big_endian = __builtin_bswap32(word);
    std::memcpy(&hash.bytes[at], &big_endian, sizeof word);
    at += sizeof word;
  }
  return hash;
}

GW_SHA std::pair<Hash256, Hash256> hash_both(ByteView first, ByteView second) {
  Pair hashes = {initial(), initial()};
  add_blocks(hashes, {first.data(), second.data()}, first.size() / kBlockBytes);
  const Ending of_first(first), of_second(second);
  add_blocks(hashes, {of_first.data(), of_second.data()}, of_first.blocks());
  return {finished(hashes[0]), finished(hashes[1])};
}

bool has_instructions() {
  constexpr unsigned kSha = 1u << 29;                 // of ebx
  constexpr unsigned kShuffles = 1u << 9 | 1u << 19;  // of ecx: SSSE3 and SSE4.1
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & kSha) == 0) return false;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kShuffles) == kShuffles;
}

}  // namespace

std::pair<Hash256, Hash256> sha256_both(ByteView first, ByteView second) {
  static const bool can = has_instructions();
  if (can && first.size() == second.size()) return hash_both(first, second);
  return {sha256(first), sha256(second)};
}

}  // namespace gw

#undef GW_SHA

#else

namespace gw {

std::pair<Hash256, Hash256> sha256_both(ByteView first, ByteView second) { return {sha256(first), sha256(second)}; }

}  // namespace gw

#endif
