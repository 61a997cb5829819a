// A short program of every kind of control flow, with some hundred polls in all and no library code between them.
#include <stdint.h>
#include <unistd.h>

static uint32_t scramble(uint32_t x) { return x * 1664525u + 1013904223u; }

// A loop of unknown length with a float in it.
static double halve_until_small(double x) {
  int steps = 0;
  while (x > 1e-3) {
    x = x / 2 + 1e-5 * ++steps;
  }
  return x;
}

// Recursion, with a value that lives across both calls.
static uint32_t tree(uint32_t seed, uint32_t depth) {
  if (depth == 0) return seed & 255;
  const uint32_t left = tree(scramble(seed), depth - 1);
  return left * 31 + tree(scramble(seed + left), depth - 1);
}

static uint32_t add(uint32_t a, uint32_t b) { return a + b; }
static uint32_t mix(uint32_t a, uint32_t b) { return tree(a ^ b, 2) ^ (a << 5); }

// Calls through a table whose index the compiler cannot know.
static uint32_t (*const kOperations[2])(uint32_t, uint32_t) = {add, mix};

static void print(uint32_t value) {
  char text[9] = "00000000\n";
  for (volatile int i = 7; i >= 0; i--, value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  write(1, text, sizeof text);
}

int main(void) {
  uint32_t value = 1;
  for (volatile int round = 0; round < 6; round++) {
    for (volatile int i = 0; i < 4; i++) value = kOperations[scramble(value) >> 31](value, (uint32_t)i);
    value += (uint32_t)(halve_until_small(1.0 + round) * 1e9);
    value ^= tree(value, 3);
    print(value);
  }
  return 0;
}
