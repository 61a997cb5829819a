// Conway's game of life on a torus, one byte per cell: neighbour sums over a two-dimensional grid.
#include <string.h>

#include "../kernel.h"

enum { kSide = 512 };

typedef uint8_t Grid[kSide][kSide];

static void step(Grid next, Grid now) {
  for (int y = 0; y < kSide; y++) {
    const uint8_t* above = now[(y + kSide - 1) % kSide];
    const uint8_t* row = now[y];
    const uint8_t* below = now[(y + 1) % kSide];
    for (int x = 0; x < kSide; x++) {
      const int left = (x + kSide - 1) % kSide, right = (x + 1) % kSide;
      const int neighbours = above[left] + above[x] + above[right] + row[left] + row[right] + below[left] + below[x] + below[right];
      next[y][x] = neighbours == 3 || (neighbours == 2 && row[x]);
    }
  }
}

int main(int argc, char** argv) {
  const uint32_t generations = kernel_size(argc, argv, 500);
  static Grid grids[2];
  KernelRandom random = {71};
  for (int i = 0; i < kSide * kSide; i++) grids[0][i / kSide][i % kSide] = kernel_random_below(&random, 3) == 0;
  for (uint32_t i = 0; i < generations; i++) step(grids[(i + 1) % 2], grids[i % 2]);
  uint64_t sum = 0;
  for (int i = 0; i < kSide * kSide; i++) sum = sum * 31 + grids[generations % 2][i / kSide][i % kSide];
  printf("life %016llx\n", (unsigned long long)sum);
  return 0;
}
