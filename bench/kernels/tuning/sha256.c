// A chain of SHA-256 compressions: 32-bit rotations and additions in loops of fixed length.
#include <string.h>

#include "../kernel.h"

static const uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

static void expand(uint32_t schedule[64], const uint8_t block[64]) {
  for (int i = 0; i < 16; i++) {
    const uint8_t* p = block + 4 * i;
    schedule[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
  }
  for (int i = 16; i < 64; i++) {
    const uint32_t near = schedule[i - 2], far = schedule[i - 15];
    const uint32_t sigma0 = rotated(far, 7) ^ rotated(far, 18) ^ far >> 3;
    const uint32_t sigma1 = rotated(near, 17) ^ rotated(near, 19) ^ near >> 10;
    schedule[i] = schedule[i - 16] + sigma0 + schedule[i - 7] + sigma1;
  }
}

static void compress(uint32_t state[8], const uint8_t block[64]) {
  uint32_t schedule[64];
  expand(schedule, block);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
  for (int i = 0; i < 64; i++) {
    const uint32_t t1 = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) + kRound[i] + schedule[i];
    const uint32_t t2 = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  const uint32_t sum[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; i++) state[i] += sum[i];
}

int main(int argc, char** argv) {
  const uint32_t links = kernel_size(argc, argv, 2000000);
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t block[64];
  memset(block, 0x5a, sizeof block);
  for (uint32_t i = 0; i < links; i++) {
    memcpy(block, state, sizeof state);
    block[32] = (uint8_t)i;
    compress(state, block);
  }
  printf("sha256 ");
  for (int i = 0; i < 8; i++) printf("%08x", state[i]);
  printf("\n");
  return 0;
}
