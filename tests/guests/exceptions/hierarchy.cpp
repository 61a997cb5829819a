// Clauses for bases, virtual bases and pointers.
#include <cstdio>
#include <exception>
struct A {
  int a = 1;
  virtual ~A() = default;
  virtual const char* name() const { return "A"; }
};
struct B : virtual A {
  int b = 2;
  const char* name() const override { return "B"; }
};
struct C : virtual A {
  int c = 3;
  const char* name() const override { return "C"; }
};
struct D : B, C {
  int d = 4;
  const char* name() const override { return "D"; }
};
struct P1 {
  int x = 11;
};
struct P2 {
  int y = 22;
};
struct M : P1, P2 {
  int z = 33;
};
struct Priv : private P1 {};
template <class X>
void go(const char* what, X x) {
  printf("%s: ", what);
  try {
    try {
      try {
        throw x;
      } catch (C& c) {
        printf("C& %d %s; ", c.c, c.name());
        throw;
      }
    } catch (P2& p) {
      printf("P2& %d; ", p.y);
      throw;
    }
  } catch (A& a) {
    printf("A& %d %s\n", a.a, a.name());
  } catch (P1& p) {
    printf("P1& %d\n", p.x);
  } catch (...) {
    puts("...");
  }
}
int main() {
  go("A", A{});
  go("B", B{});
  go("C", C{});
  go("D", D{});
  go("M", M{});
  go("Priv", Priv{});
  go("int", 3);
  D d;
  try {
    throw &d;
  } catch (const A* a) {
    printf("A* %s\n", a->name());
  }
  try {
    throw static_cast<B*>(&d);
  } catch (C*) {
    puts("C*");
  } catch (A* a) {
    printf("A* %s\n", a->name());
  }
  try {
    throw nullptr;
  } catch (const char* p) {
    printf("nullptr as pointer %d\n", p == nullptr);
  }
  try {
    throw (int*)nullptr;
  } catch (const void* p) {
    puts("void*");
  }
  try {
    throw A(d);
  } catch (A a) {
    printf("by value %s\n", a.name());
  }
}
