// Function try blocks of constructors and functions, and a local static whose constructor fails twice.
#include <cstdio>
#include <initializer_list>
#include <stdexcept>

static int check(int value) {
  if (value < 0) throw std::out_of_range("negative");
  return value;
}

struct Part {
  int value;
  explicit Part(int v) : value(check(v)) { std::printf("Part %d\n", v); }
  ~Part() { std::printf("~Part %d\n", value); }
};

struct Whole {
  Part first, second;
  Whole(int a, int b) try : first(a), second(b) { std::puts("Whole"); } catch (const std::exception& e) {
    std::printf("in the constructor: %s\n", e.what());
  }
};

static int guarded(int v) try { return check(v) + 1; } catch (const std::out_of_range&) {
  return -100;
}

static int attempts;
struct Service {
  Service() {
    if (++attempts < 3) throw attempts;
    std::puts("service is up");
  }
};
static Service& service() {
  static Service instance;
  return instance;
}

int main() {
  for (int b : {2, -1}) {
    try {
      Whole whole(1, b);
    } catch (const std::exception& e) {
      std::printf("outside: %s\n", e.what());
    }
  }
  std::printf("%d %d\n", guarded(4), guarded(-4));
  for (int i = 0; i < 4; ++i) {
    try {
      service();
      std::puts("served");
    } catch (int n) {
      std::printf("attempt %d failed\n", n);
    }
  }
}
