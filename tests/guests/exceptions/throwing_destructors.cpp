// Destructors that throw: at the end of a scope, and while an array or a partly made object is destroyed.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

struct Gate {
  int id;
  explicit Gate(int i) : id(i) {}
  ~Gate() noexcept(false) {
    std::printf("~%d uncaught %d\n", id, std::uncaught_exceptions());
    if (id % 10 == 0 && std::uncaught_exceptions() == 0) throw std::runtime_error("gate " + std::to_string(id));
  }
};

struct House {
  Gate front{1}, back{20}, cellar{3};
};

struct Quiet {
  ~Quiet() {
    try {
      Gate inner(30);
    } catch (const std::exception& e) {
      std::printf("inside ~Quiet: %s\n", e.what());
    }
  }
};

int main() {
  try {
    Gate a(2), b(10), c(4);
    std::puts("leaving");
  } catch (const std::exception& e) {
    std::printf("caught %s\n", e.what());
  }
  try {
    House house;
  } catch (const std::exception& e) {
    std::printf("caught %s\n", e.what());
  }
  try {
    Quiet quiet;
    throw 7;
  } catch (int v) {
    std::printf("caught %d\n", v);
  }
  try {
    Gate* gates = new Gate[3]{Gate(5), Gate(40), Gate(6)};
    delete[] gates;
  } catch (const std::exception& e) {
    std::printf("caught %s\n", e.what());
  }
}
