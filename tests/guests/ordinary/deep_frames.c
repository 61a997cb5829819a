// Recursion of 60,000 frames with 24 live values each: suspended at the bottom, its frames take 12 MiB.
#include <stdint.h>
#include <stdio.h>

static volatile uint64_t values[24];

__attribute__((noinline)) static uint64_t bottom(uint64_t sum) {
  for (unsigned i = 0; i < 200000; ++i) sum = sum * 31 + values[i % 24];
  return sum;
}

__attribute__((noinline)) static uint64_t descend(unsigned depth, uint64_t salt) {
  const uint64_t a = values[0] + salt, b = values[1] + salt, c = values[2] ^ salt, d = values[3] + salt, e = values[4] ^ salt,
                 f = values[5] + salt;
  const uint64_t g = values[6] + salt, h = values[7] ^ salt, i = values[8] + salt, j = values[9] ^ salt, k = values[10] + salt,
                 l = values[11] ^ salt;
  const uint64_t m = values[12] + salt, n = values[13] ^ salt, o = values[14] + salt, p = values[15] ^ salt, q = values[16] + salt;
  const uint64_t r = values[17] ^ salt, s = values[18] + salt, t = values[19] ^ salt, u = values[20] + salt, v = values[21] ^ salt;
  const uint64_t w = values[22] + salt, x = values[23] ^ salt;
  const uint64_t below = depth == 0 ? bottom(salt) : descend(depth - 1, salt * 3 + depth);
  return below ^ (a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13 + g * 17 + h * 19 + i * 23 + j * 29 + k * 31 + l * 37) ^
         (m * 41 + n * 43 + o * 47 + p * 53 + q * 59 + r * 61 + s * 67 + t * 71 + u * 73 + v * 79 + w * 83 + x * 89);
}

int main(void) {
  for (unsigned i = 0; i < 24; ++i) values[i] = i * 0x9e3779b97f4a7c15u;
  printf("%llu\n", (unsigned long long)descend(60000, 1));
  return 0;
}
