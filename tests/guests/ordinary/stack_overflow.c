// Locals that are larger than the stack, deep down.
#include <stdio.h>
#include <string.h>

static volatile int depth = 1000;

__attribute__((noinline)) static int large(int level) {
  char room[65536];
  memset(room, level, sizeof room);
  return level == 0 ? room[depth] : large(level - 1) + room[level];
}

int main(void) {
  printf("%d\n", large(64));  // 4 MiB: fits
  fflush(stdout);
  printf("%d\n", large(depth));
  return 0;
}
