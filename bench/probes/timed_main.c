// An ordinary program that prints when it began, in microseconds.
#include <stdio.h>
#include <time.h>

int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  printf("%lld\n", now.tv_sec * 1000000LL + now.tv_nsec / 1000);
}
