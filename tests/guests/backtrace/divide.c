// Divides by zero some calls deep, after time to be moved.
#include <stdio.h>
#include <time.h>

__attribute__((noinline)) static int divide(int a, int b) { return a / b; }

__attribute__((noinline)) static int sum(int from) {
  int total = 0;
  for (int i = from; i >= 0; --i) {
    printf("%d\n", i);
    fflush(stdout);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    total += divide(100, i);
  }
  return total;
}

int main(int argc, char** argv) {
  (void)argv;
  return sum(argc + 2);
}
