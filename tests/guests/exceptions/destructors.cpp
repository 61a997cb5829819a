// Which objects are destroyed, and in which order.
#include <array>
#include <cstdio>
#include <vector>
struct T {
  int id;
  static int live;
  explicit T(int i) : id(i) {
    ++live;
    printf("T%d ", id);
  }
  T(const T& o) : id(o.id + 100) {
    if (id == 103) throw 103;
    ++live;
    printf("C%d ", id);
  }
  ~T() {
    --live;
    printf("~%d ", id);
  }
};
int T::live = 0;
struct Holder {
  T a, b;
  Holder(int n) : a(n), b(n + 1) {
    T c(n + 2);
    if (n == 10) throw "holder";
    puts("made");
  }
};
void f(int n) {
  T a(1);
  {
    T b(2);
    if (n == 1) throw 1;
  }
  T c(3);
  if (n == 2) throw 2;
  for (int i = 0; i < 3; ++i) {
    T d(4 + i);
    if (n == 3 && i == 1) throw 3;
  }
  T arr[2] = {T(20), T(21)};
  if (n == 4) throw 4;
}
int main() {
  for (int n = 0; n < 5; ++n) {
    try {
      f(n);
      puts("| ok");
    } catch (int v) {
      printf("| %d\n", v);
    }
  }
  try {
    Holder h(10);
  } catch (const char* s) {
    printf("| %s\n", s);
  }
  try {
    Holder h(30);
  } catch (const char* s) {
    printf("| %s\n", s);
  }
  try {
    std::vector<T> v;
    v.reserve(1);
    v.emplace_back(3);
    std::vector<T> w(v);
  } catch (int v) {
    printf("| copy %d\n", v);
  }
  printf("live %d\n", T::live);
}
