// An ordinary program that computes for a while: so many steps of a random generator as its argument says.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  uint64_t state = 88172645463325252u;
  for (uint64_t left = argc > 1 ? strtoull(argv[1], 0, 10) : 1; left > 0; --left) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state == 0;
}
