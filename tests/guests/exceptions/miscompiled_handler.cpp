// A handler that clang 19 miscompiles (src/toolchain/handler_fix.cc).
#include <cstdio>
#include <functional>
static int fuel = 415;
int flag;
struct E2 {
  int w;
};
__attribute__((noinline)) int f2(int a, int d) {
  if (d <= 0 || fuel <= 0) {
    if (a % 5 == 1) throw E2{a & 63};
    return a & 1023;
  }
  return 5;
}
__attribute__((noinline)) int f0(int a, int d) {
  int x = a & 1023;
  if (d <= 0 || fuel <= 0) {
    if (a % 5 == 1) throw E2{a & 63};
    return x;
  }
  try {
    try {
      x = x * 7 + 51;
      if (d > 0 && --fuel > 0) x ^= f0(a * 3 + 1, d - 1);
      if (flag && x % 3 == 0) throw 1;
    } catch (...) {
      if (d > 0 && --fuel > 0) {
        std::function<int(int)> g = [&](int q) { return f2(q, d - 1) + x; };
        x += g(x);
      }
      if ((a) % 3 == 0) throw;
    }
  } catch (...) {
  }
  printf("%d ", x);
  return x & 0xffff;
}
int main() {
  for (int r = 0; r < 12; ++r) {
    fuel = 156;
    try {
      printf("= %d\n", f0(r * 7, 5));
    } catch (...) {
      puts("!");
    }
  }
}
