// Counts the primes and the pairs of twins below a limit with a segmented sieve of Eratosthenes.
//
//   godwit run examples/primes.c
//   godwit run examples/primes.c -- 10000000000
//
// The sieve works in windows that fit the first-level cache; only the primes up to the square root of the limit are kept.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWindow = 1 << 15 };  // odd numbers per window, one byte each

typedef struct Primes {
  uint32_t* values;
  size_t count;
} Primes;

// The odd primes up to `limit`, by the plain sieve.
static Primes small_primes(uint32_t limit) {
  uint8_t* composite = calloc((size_t)limit + 1, 1);
  uint32_t* values = malloc(((size_t)limit / 2 + 1) * sizeof *values);
  if (composite == NULL || values == NULL) {
    fprintf(stderr, "primes: out of memory\n");
    exit(1);
  }
  size_t count = 0;
  for (uint32_t n = 3; n <= limit; n += 2) {
    if (composite[n]) continue;
    values[count++] = n;
    for (uint64_t multiple = (uint64_t)n * n; multiple <= limit; multiple += 2 * (uint64_t)n) composite[multiple] = 1;
  }
  free(composite);
  return (Primes){values, count};
}

static uint32_t square_root(uint64_t n) {
  uint64_t low = 0, high = UINT32_MAX;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    if (middle * middle <= n) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return (uint32_t)low;
}

// Marks the composites among the odd numbers first, first + 2, ... . `next` remembers, prime by prime, the next odd multiple.
static void sieve_window(uint8_t* composite, uint64_t first, const Primes* primes, uint64_t* next) {
  const uint64_t end = first + 2 * (uint64_t)kWindow;
  memset(composite, 0, kWindow);
  for (size_t i = 0; i < primes->count; i++) {
    const uint64_t prime = primes->values[i];
    if (prime * prime >= end) break;
    uint64_t multiple = next[i];
    for (; multiple < end; multiple += 2 * prime) composite[(multiple - first) / 2] = 1;
    next[i] = multiple;
  }
}

int main(int argc, char** argv) {
  const uint64_t limit = argc > 1 ? strtoull(argv[1], NULL, 10) : 600000000;
  if (limit < 10 || limit > 1000000000000000000) {
    fprintf(stderr, "usage: primes [limit 10..10^18]\n");
    return 2;
  }
  const Primes primes = small_primes(square_root(limit));
  uint64_t* next = malloc((primes.count + 1) * sizeof *next);
  if (next == NULL) return 1;
  for (size_t i = 0; i < primes.count; i++) next[i] = (uint64_t)primes.values[i] * primes.values[i];

  static uint8_t composite[kWindow];
  uint64_t count = 1, twins = 0, largest = 2, decade = 10;
  for (uint64_t first = 3; first < limit; first += 2 * (uint64_t)kWindow) {
    sieve_window(composite, first, &primes, next);
    for (uint64_t i = 0, n = first; i < kWindow && n < limit; i++, n += 2) {
      if (composite[i]) continue;
      for (; n > decade; decade *= 10) printf("below %-20" PRIu64 " %14" PRIu64 " primes, %12" PRIu64 " twins\n", decade, count, twins);
      count++;
      twins += n - largest == 2;
      largest = n;
    }
  }
  printf("below %-20" PRIu64 " %14" PRIu64 " primes, %12" PRIu64 " twins, largest %" PRIu64 "\n", limit, count, twins, largest);
  free(next);
  free(primes.values);
  return 0;
}
