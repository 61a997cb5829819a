// LZ77 with hash chains, and back: match search over bytes, data-dependent loop lengths.
#include <string.h>

#include "../kernel.h"

enum { kTextBytes = 1 << 20, kWindow = 1 << 15, kHashes = 1 << 15, kMinMatch = 4, kMaxMatch = 255, kMaxChain = 24 };

typedef struct Match {
  uint32_t distance;  // 0: none
  uint32_t length;
} Match;

static int32_t head[kHashes];         // latest position with this hash, -1: none
static int32_t previous[kTextBytes];  // earlier position with the same hash

static uint32_t hash_at(const uint8_t* p) {
  const uint32_t word = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
  return word * 2654435761u >> 17;
}

static uint32_t common_length(const uint8_t* a, const uint8_t* b, uint32_t limit) {
  uint32_t length = 0;
  while (length < limit && a[length] == b[length]) length++;
  return length;
}

static Match longest_match(const uint8_t* text, uint32_t at, uint32_t size) {
  Match best = {0, 0};
  const uint32_t limit = size - at < kMaxMatch ? size - at : kMaxMatch;
  int32_t candidate = head[hash_at(text + at)];
  for (int chain = 0; chain < kMaxChain && candidate >= 0 && at - (uint32_t)candidate < kWindow; chain++) {
    const uint32_t length = common_length(text + candidate, text + at, limit);
    if (length > best.length) best = (Match){at - (uint32_t)candidate, length};
    candidate = previous[candidate];
  }
  return best.length >= kMinMatch ? best : (Match){0, 0};
}

static void remember(const uint8_t* text, uint32_t at) {
  const uint32_t hash = hash_at(text + at);
  previous[at] = head[hash];
  head[hash] = (int32_t)at;
}

// Writes (0, byte) for a literal and (length, distance low, distance high) for a match.
static uint32_t compress(const uint8_t* text, uint32_t size, uint8_t* out) {
  memset(head, 0xFF, sizeof head);
  uint32_t written = 0;
  for (uint32_t at = 0; at < size;) {
    const Match match = at + kMinMatch <= size ? longest_match(text, at, size) : (Match){0, 0};
    const uint32_t advance = match.length > 0 ? match.length : 1;
    out[written++] = (uint8_t)match.length;
    out[written++] = match.length > 0 ? (uint8_t)match.distance : text[at];
    if (match.length > 0) out[written++] = (uint8_t)(match.distance >> 8);
    for (uint32_t i = 0; i < advance; i++, at++) {
      if (at + kMinMatch <= size) remember(text, at);
    }
  }
  return written;
}

static uint32_t expand(const uint8_t* packed, uint32_t size, uint8_t* text) {
  uint32_t written = 0;
  for (uint32_t at = 0; at < size;) {
    const uint32_t length = packed[at++];
    if (length == 0) {
      text[written++] = packed[at++];
      continue;
    }
    const uint32_t distance = packed[at] | (uint32_t)packed[at + 1] << 8;
    at += 2;
    for (uint32_t i = 0; i < length; i++, written++) text[written] = text[written - distance];
  }
  return written;
}

int main(int argc, char** argv) {
  const uint32_t rounds = kernel_size(argc, argv, 30);
  KernelRandom random = {83};
  uint8_t* text = kernel_memory(kTextBytes);
  uint8_t* packed = kernel_memory(2 * kTextBytes);
  uint8_t* unpacked = kernel_memory(kTextBytes);
  uint64_t sum = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    for (uint32_t i = 0; i < kTextBytes; i++) {
      const int repeat = i > 600 && kernel_random_below(&random, 8) != 0;
      text[i] = repeat ? text[i - 500 - round] : (uint8_t)('a' + kernel_random_below(&random, 20));
    }
    const uint32_t size = compress(text, kTextBytes, packed);
    const int intact = expand(packed, size, unpacked) == kTextBytes && memcmp(text, unpacked, kTextBytes) == 0;
    sum = sum * 31 + size + (intact ? 0 : 1000000007);
  }
  printf("lz77 %016llx\n", (unsigned long long)sum);
  return 0;
}
