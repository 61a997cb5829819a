// setjmp and longjmp in one function.
#include <setjmp.h>
#include <stdio.h>
static jmp_buf b;
int main(void) {
  volatile int n = 0;
  int r = setjmp(b);
  printf("r %d n %d\n", r, n);
  if (n < 5) {
    n++;
    longjmp(b, n * 10);
  }
  jmp_buf c;
  switch (setjmp(c)) {
    case 0:
      puts("first");
      longjmp(c, 0);
    case 1:
      puts("one for zero");
      break;
    default:
      puts("?");
  }
  return 0;
}
