// An exception that nothing catches.
#include <cstdio>
#include <stdexcept>
#include <string>
int main(int argc, char**) {
  puts("before");
  fflush(stdout);
  if (argc > 0) throw std::runtime_error(std::string("nobody catches me ") + std::to_string(argc));
}
