// Exceptions inside handlers and destructors.
#include <cstdio>
struct E1 {
  int v;
};
struct E2 {
  int v;
};
struct InDtor {
  ~InDtor() {
    try {
      throw E2{5};
    } catch (E2& e) {
      printf("in dtor %d\n", e.v);
    }
  }
};
int depth(int n) {
  try {
    InDtor d;
    if (n == 0) throw E1{0};
    return depth(n - 1);
  } catch (E1& e) {
    e.v += n;
    if (n % 2) throw;
    try {
      throw E2{n};
    } catch (E2& f) {
      printf("E2 %d inside E1 %d\n", f.v, e.v);
    }
    throw E1{e.v + 1};
  }
}
int main() {
  try {
    depth(4);
  } catch (E1& e) {
    printf("E1 %d\n", e.v);
  }
  try {
    throw E1{1};
  } catch (E1& a) {
    try {
      throw E1{2};
    } catch (E1& b) {
      try {
        throw E1{3};
      } catch (E1& c) {
        printf("%d %d %d\n", a.v, b.v, c.v);
      }
      printf("%d %d\n", a.v, b.v);
    }
    printf("%d\n", a.v);
  }
}
