// An exception that leaves a thread ends the program.
#include <cstdio>
#include <stdexcept>
#include <thread>

int main() {
  std::printf("before\n");
  std::fflush(stdout);
  std::thread([] { throw std::runtime_error("nobody catches this"); }).join();
  std::printf("never\n");
}
