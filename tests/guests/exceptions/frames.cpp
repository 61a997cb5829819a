// A throw through recursive frames with destructors.
#include <cstdio>
struct Trace {
  const char* n;
  Trace(const char* x) : n(x) { printf("+%s\n", n); }
  ~Trace() { printf("-%s\n", n); }
};
__attribute__((noinline)) int deep(int n) {
  Trace t(n % 2 ? "odd" : "even");
  if (n == 0) throw 42;
  return deep(n - 1) + n;
}
int main() {
  try {
    printf("%d\n", deep(6));
  } catch (int v) {
    printf("caught %d\n", v);
  }
  try {
    printf("%d\n", deep(1));
  } catch (int v) {
    printf("caught %d\n", v);
  }
  return 0;
}
