// Long-running catch clauses, cleanups and try bodies: polls everywhere an exception is held.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
unsigned long long work(unsigned n, unsigned long long seed) {
  for (unsigned i = 0; i < n; ++i) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
  }
  return seed;
}
struct Busy {
  unsigned long long& s;
  ~Busy() {
    for (int i = 0; i < 3; ++i) s = work(20000, s + i);
  }
};
struct Tree {
  std::vector<Tree> kids;
  int v;
};
Tree grow(int d, int& budget) {
  if (--budget < 0) throw std::length_error("budget");
  Tree t{{}, d};
  for (int i = 0; i < d; ++i) t.kids.push_back(grow(d - 1, budget));
  return t;
}
int count(const Tree& t) {
  int n = 1;
  for (auto& k : t.kids) n += count(k);
  return n;
}
void level(int n, unsigned long long& s) {
  Busy b{s};
  try {
    s = work(10000, s);
    if (n == 0) throw std::runtime_error("bottom");
    level(n - 1, s);
  } catch (std::exception& e) {
    for (int i = 0; i < 5; ++i) {
      s = work(10000, s + e.what()[0]);
      try {
        if (s % 3 == 0) throw (int)(s % 1000);
      } catch (int v) {
        s = work(v * 10, s);
      }
    }
    if (n % 2) throw;
    throw std::logic_error(e.what() + std::to_string(n));
  }
}
int main() {
  unsigned long long s = 88172645463325252ull;
  for (int i = 0; i < 40; ++i) {
    try {
      level(i % 7, s);
    } catch (const std::exception& e) {
      printf("%d %s %llu\n", i, e.what(), s);
    }
  }
  for (int b = 1; b < 400; b *= 2) {
    int budget = b;
    try {
      printf("%d nodes\n", count(grow(5, budget)));
    } catch (std::length_error& e) {
      printf("%d: %s\n", b, e.what());
    }
  }
}
