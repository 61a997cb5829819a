// Reads the clock as often as it is told, or without end; exits with 7 when it is done.
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  struct timespec now;
  for (long left = argc > 1 ? atol(argv[1]) : -1; left != 0; left--) clock_gettime(CLOCK_MONOTONIC, &now);
  return 7;
}
