// Prints the square of its argument; fails for 13.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const long number = argc > 1 ? atol(argv[1]) : 0;
  if (number == 13) {
    fprintf(stderr, "unlucky\n");
    return 3;
  }
  printf("%ld\n", number * number);
}
