// Sleeps for as many seconds as its argument says, then says so.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  unsigned left = seconds;
  while (left != 0) left = sleep(left);
  printf("said after %u s\n", seconds);
  return 0;
}
