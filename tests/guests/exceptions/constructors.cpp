// Constructors that throw, members and bases made before.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
static int allocated;
struct Part {
  int n;
  Part(int x) : n(x) {
    printf("Part %d\n", n);
    if (n == 3) throw std::invalid_argument("part three");
  }
  ~Part() { printf("~Part %d\n", n); }
};
struct Whole {
  Part a, b;
  std::unique_ptr<Part> c;
  Whole(int n) try : a(n), b(n + 1), c(new Part(n + 2)) { puts("Whole"); } catch (std::invalid_argument& e) {
    printf("ctor try %s\n", e.what());
  }
  ~Whole() { puts("~Whole"); }
  static void* operator new(size_t s) {
    ++allocated;
    return malloc(s);
  }
  static void operator delete(void* p) {
    --allocated;
    free(p);
  }
};
int& global() {
  static int* p = [] {
    static int tries;
    if (++tries < 3) throw tries;
    return new int(77);
  }();
  return *p;
}
int main() {
  for (int n = 0; n < 5; ++n) {
    try {
      auto w = std::unique_ptr<Whole>(new Whole(n));
    } catch (std::exception& e) {
      printf("main %s\n", e.what());
    }
    printf("allocated %d\n", allocated);
  }
  for (int i = 0; i < 4; ++i) {
    try {
      printf("static %d\n", global());
    } catch (int v) {
      printf("static threw %d\n", v);
    }
  }
  try {
    Part* p = new Part[5]{1, 2, 3, 4, 5};
    delete[] p;
  } catch (std::exception& e) {
    printf("array %s\n", e.what());
  }
}
