// CALLS calls, each of which takes a while and says its number.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <godwit/godwit.hpp>

int slow(int number) {
  volatile unsigned state = 1;
  for (long i = 0; i < 40'000'000; i++) state = state * 1664525u + 1013904223u;
  return number;
}

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 20;
  godwit::computer grid{{.workers = 3}};
  std::vector<godwit::future<int>> results;
  for (int i = 1; i <= calls; i++) results.push_back(grid.async(slow, i));
  long sum = 0;
  for (auto& one : results) sum += one.get();
  std::printf("%d calls, %ld in all\n", calls, sum);
}
