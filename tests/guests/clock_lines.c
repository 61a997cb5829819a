// Prints what the clock says, three times: the same again only if it is told so.
#include <stdio.h>
#include <time.h>

int main(void) {
  for (int i = 0; i < 3; i++) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("%lld %ld\n", (long long)now.tv_sec, now.tv_nsec);
    fflush(stdout);
  }
  return 0;
}
