// An exception that meets noexcept: the terminate handler sees it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
void inner(int n) {
  if (n) throw std::runtime_error("out of noexcept");
  puts("fine");
}
void wall(int n) noexcept { inner(n); }
int main() {
  std::set_terminate([] {
    puts("handler");
    try {
      if (std::current_exception()) throw;
    } catch (const std::exception& e) {
      puts(e.what());
    }
    fflush(stdout);
    std::_Exit(3);
  });
  wall(0);
  try {
    wall(1);
  } catch (...) {
    puts("never");
  }
}
