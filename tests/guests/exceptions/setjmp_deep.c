// longjmp out of deep recursion, out of qsort, and through a stack of buffers.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf top;
static jmp_buf* stack[16];
static int depth;
static int cmp(const void* a, const void* b) {
  if (*(const int*)a == 7) longjmp(top, 7);
  return *(const int*)a - *(const int*)b;
}
__attribute__((noinline)) static int rec(int n, int limit) {
  if (n == limit) longjmp(top, 100 + n);
  volatile int keep = n;
  int r = rec(n + 1, limit);
  return r + keep;
}
static void fail(int code) {
  if (depth) longjmp(*stack[depth - 1], code);
  printf("fatal %d\n", code);
  exit(2);
}
static int guarded(int (*f)(int), int x) {
  jmp_buf here;
  stack[depth++] = &here;
  int r = setjmp(here);
  if (r == 0) {
    int v = f(x);
    depth--;
    return v;
  }
  depth--;
  return -r;
}
static int half(int x) {
  if (x % 2) fail(x);
  return x / 2;
}
static int nest(int x) {
  int a = guarded(half, x);
  if (a < 0) {
    printf("inner failed %d\n", -a);
    if (x > 5) fail(x * 2);
    return a;
  }
  return a;
}
int main(void) {
  for (volatile int i = 1; i < 200; i *= 3) {
    int r = setjmp(top);
    if (r == 0) {
      printf("%d\n", rec(0, i));
    } else
      printf("back with %d\n", r);
  }
  int v[] = {3, 9, 7, 1};
  if (setjmp(top) == 0) {
    qsort(v, 4, 4, cmp);
    puts("sorted");
  } else
    puts("out of qsort");
  for (int x = 1; x < 10; ++x) printf("%d -> %d\n", x, guarded(nest, x));
  return 0;
}
