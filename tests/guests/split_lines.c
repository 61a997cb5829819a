// Forks as many threads as its argument says; each prints 100 lines, every one of them in several writes.
#include <godwit/godwit.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  int name = 0;
  for (int i = 1; i <= threads && name == 0; ++i) {
    uint64_t child = 0;
    if (godwit_fork(&child) != 0) return 1;
    if (child == 0) name = i;
  }
  setvbuf(stdout, 0, _IONBF, 0);
  for (int line = 0; line < 100; ++line) {
    printf("thread %d ", name);
    for (volatile int i = 0; i < 20000; ++i) {
    }
    printf("line %d\n", line);
  }
  return 0;
}
