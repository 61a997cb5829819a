// Writes as many blocks as it is told, or without end; exits with 7 when it has got rid of all.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char block[65536];

int main(int argc, char** argv) {
  memset(block, 'x', sizeof block);
  for (long left = argc > 1 ? atol(argv[1]) : -1; left != 0; left--) write(1, block, sizeof block);
  return 7;
}
