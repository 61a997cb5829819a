// Sleeps for as many seconds as its argument says.
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  unsigned left = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  while (left != 0) left = sleep(left);
  return 0;
}
