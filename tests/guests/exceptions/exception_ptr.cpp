// std::exception_ptr: kept, compared, thrown again.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>
struct Counted {
  static int live;
  int v;
  Counted(int x) : v(x) { ++live; }
  Counted(const Counted& o) : v(o.v) { ++live; }
  ~Counted() { --live; }
};
int Counted::live;
std::exception_ptr capture(int n) {
  try {
    if (n % 2) throw Counted(n);
    throw std::runtime_error("r" + std::to_string(n));
  } catch (...) {
    return std::current_exception();
  }
}
int main() {
  std::vector<std::exception_ptr> v;
  for (int i = 0; i < 6; ++i) v.push_back(capture(i));
  printf("live %d\n", Counted::live);
  for (int round = 0; round < 2; ++round)
    for (auto& p : v) {
      try {
        std::rethrow_exception(p);
      } catch (Counted& c) {
        printf("C%d ", c.v);
      } catch (std::exception& e) {
        printf("%s ", e.what());
      }
    }
  puts("");
  try {
    std::rethrow_exception(v[1]);
  } catch (...) {
    auto q = std::current_exception();
    try {
      std::rethrow_exception(q);
    } catch (Counted& c) {
      printf("same %d %d\n", c.v, q == v[1]);
    }
  }
  v.clear();
  printf("live %d\n", Counted::live);
  printf("none %d\n", std::current_exception() == nullptr);
  auto made = std::make_exception_ptr(std::out_of_range("made"));
  try {
    std::rethrow_exception(made);
  } catch (std::logic_error& e) {
    puts(e.what());
  }
}
