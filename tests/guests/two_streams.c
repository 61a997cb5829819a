// Fills one stream of its effects and then uses the other: `home BLOCKS` writes blocks, forks once and writes a line; `log FORKS` forks,
// writes a line and forks again. The line comes last in the first, and in the second before the last fork.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((import_module("godwit"), import_name("fork"))) int32_t fork_thread(uint64_t* child);

static char block[65536];

static void fork_once(void) {
  uint64_t child = 0;
  if (fork_thread(&child) != 0) exit(1);
  if (child == 0) exit(0);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  memset(block, 'x', sizeof block);
  for (long left = atol(argv[2]); left > 0; left--) {
    if (strcmp(argv[1], "home") == 0) {
      write(1, block, sizeof block);
    } else {
      fork_once();
    }
  }
  if (strcmp(argv[1], "home") == 0) fork_once();
  write(1, "line\n", 5);
  if (strcmp(argv[1], "log") == 0) fork_once();
  return 7;
}
