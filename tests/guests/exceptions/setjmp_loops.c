// setjmp inside loops, several in one function, jumps out of loops and into frames that call setjmp again.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf retry, give_up;

static unsigned work(unsigned n) {
  for (int i = 0; i < 300; ++i) n = n * 1103515245u + 12345u + (n >> 11);
  return n;
}

static void step(unsigned value, int round) {
  const unsigned result = work(value + (unsigned)round);
  if (result % 3 == 0) longjmp(retry, (int)(result % 7));
  if (result % 11 == 0) longjmp(give_up, 1);
  printf("%u in round %d\n", result % 1000, round);
}

int main(void) {
  volatile unsigned value = 1;
  volatile int given_up = 0, retried = 0;
  for (volatile int round = 0; round < 20; ++round) {
    if (setjmp(give_up) != 0) {
      ++given_up;
      value += 17;
      continue;
    }
    const int reason = setjmp(retry);
    if (reason != 0) {
      printf("again because of %d\n", reason);
      value += 5;
      if (++retried > 50) break;
    }
    step(value, round);
    value += 3;
  }
  printf("%d %d %u\n", given_up, retried, value);
  return 0;
}
