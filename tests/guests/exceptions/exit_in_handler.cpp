// exit() inside a handler: no destructor of a local runs.
#include <cstdio>
#include <cstdlib>
struct A {
  const char* n;
  ~A() { printf("~%s\n", n); }
};
A global{"global"};
int main() {
  A local{"local"};
  atexit([] { puts("atexit"); });
  try {
    A t{"try"};
    throw 1;
  } catch (int) {
    A c{"catch"};
    exit(5);
  }
}
