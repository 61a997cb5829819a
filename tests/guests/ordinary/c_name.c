// A trap in a function whose name would be a type in C++: f is float.
__attribute__((noinline)) int f(int n) { return n == 0 ? *(volatile int*)0xfffffff0u : n; }

int main(int argc, char** argv) {
  (void)argv;
  return f(argc - 1);
}
