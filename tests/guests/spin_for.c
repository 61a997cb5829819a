// Computes for about as many milliseconds as its argument says, whatever else the machine does.
#include <stdlib.h>

int main(int argc, char** argv) {
  const long long steps = (argc > 1 ? atoll(argv[1]) : 1) * 600000;
  for (volatile long long i = 0; i < steps; i++) {
  }
  return 0;
}
