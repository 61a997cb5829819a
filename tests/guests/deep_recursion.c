// Walks up and down a stack of 100,000 frames without end.
#include <stdint.h>
#include <stdio.h>

static volatile uint32_t top;

__attribute__((noinline)) static uint32_t descend(uint32_t depth, uint32_t salt) {
  if (depth == 0) return top++ ^ salt;
  const uint32_t below = descend(depth - 1, salt * 31 + depth);
  return below ^ salt;
}

int main(void) {
  for (uint32_t round = 0;; round++) {
    if (descend(100000, round) == 0xFFFFFFFFu) printf("%u\n", round);
  }
}
