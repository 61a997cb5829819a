// A million throws: nothing leaks, nothing piles up.
#include <cstdio>
#include <stdexcept>
struct Acc {
  long long& s;
  int v;
  ~Acc() { s += v; }
};
__attribute__((noinline)) int f(int i) {
  if (i % 3 == 0) throw i;
  if (i % 3 == 1) throw std::runtime_error("x");
  return i;
}
__attribute__((noinline)) int g(int i, long long& s) {
  Acc a{s, i & 7};
  return f(i);
}
int main() {
  long long ints = 0, errs = 0, sum = 0, s = 0;
  for (int i = 0; i < 1000000; ++i) {
    try {
      sum += g(i, s);
    } catch (int v) {
      ints += v & 15;
    } catch (std::exception& e) {
      errs++;
    }
  }
  printf("%lld %lld %lld %lld\n", ints, errs, sum, s);
}
