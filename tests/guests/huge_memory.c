// Fills as many MiB as its first argument says with numbers that follow from their place, changes a hundredth of them in each of so many
// rounds as the second says, and reads all of it at the end. Sleeps for as many milliseconds as the third says after each round. The memory
// is in blocks: a C library asks for less than 2 GiB at once.
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCK (UINT64_C(1) << 25)  // numbers: 256 MiB
static uint64_t* blocks[16];

static uint64_t* at(uint64_t place) { return &blocks[place / BLOCK][place % BLOCK]; }

static uint64_t value_of(uint64_t place, uint64_t round) { return (place + 1) * 0x9e3779b97f4a7c15u ^ round; }

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const uint64_t count = strtoull(argv[1], 0, 10) << 17;
  const uint64_t rounds = strtoull(argv[2], 0, 10);
  const long milliseconds = atol(argv[3]);
  if (count > BLOCK * (sizeof blocks / sizeof *blocks)) return 2;
  for (uint64_t first = 0; first < count; first += BLOCK) {
    const uint64_t numbers = count - first < BLOCK ? count - first : BLOCK;
    blocks[first / BLOCK] = malloc((size_t)numbers * sizeof **blocks);
    if (!blocks[first / BLOCK]) return 3;
  }
  for (uint64_t i = 0; i < count; ++i) *at(i) = value_of(i, 0);
  puts("filled");
  fflush(stdout);
  const uint64_t part = count / 100;
  for (uint64_t round = 1; round <= rounds; ++round) {
    for (uint64_t i = 0; i < part; ++i) *at(round * part % (count - part) + i) = value_of(i, round);
    printf("round %llu\n", (unsigned long long)round);
    fflush(stdout);
    const struct timespec wanted = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&wanted, 0);
  }
  uint64_t digest = 0;
  for (uint64_t i = 0; i < count; ++i) digest = (digest ^ *at(i)) * 0x100000001b3u;
  printf("%016llx\n", (unsigned long long)digest);
  return 0;
}
