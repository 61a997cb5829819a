// Exceptions thrown again, and translated into others.
#include <cstdio>
#include <stdexcept>
#include <string>
struct G {
  const char* n;
  ~G() { printf("~%s\n", n); }
};
void a(int n) {
  G g{"a"};
  if (n) throw std::runtime_error("n=" + std::to_string(n));
}
void b(int n) {
  G g{"b"};
  try {
    a(n);
  } catch (const std::exception& e) {
    G h{"b.catch"};
    printf("b saw %s\n", e.what());
    throw;
  }
}
void c(int n) {
  G g{"c"};
  try {
    b(n);
  } catch (...) {
    puts("c saw");
    try {
      throw;
    } catch (std::runtime_error& e) {
      printf("c again %s\n", e.what());
      if (n > 1) throw;
    }
    puts("c swallowed");
  }
}
void d(int n) {
  try {
    c(n);
  } catch (std::exception& e) {
    throw std::logic_error(std::string("d: ") + e.what());
  }
}
int main() {
  for (int i = 0; i < 4; ++i) {
    try {
      d(i);
      puts("through");
    } catch (std::exception& e) {
      printf("main %s\n", e.what());
    }
  }
  try {
    try {
      throw 1;
    } catch (int& v) {
      v = 7;
      throw;
    }
  } catch (int v) {
    printf("%d\n", v);
  }
}
