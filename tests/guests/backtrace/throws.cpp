// Ends in one of several ways, behind exceptions that are caught.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

struct Guard {
  ~Guard() { count = count + 1; }
  static inline volatile int count = 0;
};

int at_least(int least, int n) {
  Guard guard;
  if (n < least) throw std::out_of_range("too small");
  return n;
}

int handled(int n) {
  try {
    return at_least(10, n);
  } catch (const std::out_of_range&) {
    volatile int zero = n - 1;
    return 7 / zero;
  }
}

void aborts(int n) {
  if (handled(n + 4) != 0) std::puts("unexpected");
  std::abort();
}

void spins() {
  for (;;) Guard::count = Guard::count + 1;
}

int recurses(int n) { return recurses(n + 1) + Guard::count; }

int main(int argc, char** argv) {
  const std::string how = argv[argc - 1];
  if (how == "trap") return handled(1);
  if (how == "abort") aborts(5);
  if (how == "throw") return at_least(3, 2);
  if (how == "spin") spins();
  return recurses(0);
}
