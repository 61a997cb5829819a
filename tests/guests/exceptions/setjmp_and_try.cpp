// setjmp and try in one function.
#include <setjmp.h>
#include <cstdio>
#include <stdexcept>
static jmp_buf jb;
void leap(int n) {
  if (n == 1) longjmp(jb, 5);
  if (n == 2) throw std::runtime_error("cpp");
  puts("leap 0");
}
int both(int n) {
  int r = setjmp(jb);
  if (r) return r;
  try {
    leap(n);
  } catch (std::exception& e) {
    puts(e.what());
    return -1;
  }
  return 0;
}
int main() {
  for (int i = 0; i < 4; ++i) printf("%d\n", both(i));
}
