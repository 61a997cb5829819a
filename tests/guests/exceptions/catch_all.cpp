// catch (...) among other clauses.
#include <cstdio>
#include <exception>
struct S {
  int n;
  ~S() { printf("S%d\n", n); }
};
int f(int n) {
  S s{n};
  try {
    if (n == 1) throw 1;
    if (n == 2) throw S{200};
    if (n == 3) throw "x";
  } catch (S& s2) {
    printf("S %d\n", s2.n);
    return 1;
  } catch (...) {
    printf("all, uncaught %d\n", std::uncaught_exceptions());
    return 2;
  }
  return 0;
}
struct Watch {
  ~Watch() { printf("uncaught in dtor %d\n", std::uncaught_exceptions()); }
};
int main() {
  for (int i = 0; i < 4; ++i) printf("%d\n", f(i));
  try {
    Watch w;
    throw 3;
  } catch (...) {
    printf("%d\n", std::uncaught_exceptions());
  }
  {
    Watch w;
  }
  for (int i = 0; i < 3; ++i) {
    try {
      if (i == 1) continue;
      if (i == 2) break;
      throw i;
    } catch (...) {
      printf("loop %d\n", i);
      continue;
    }
  }
}
