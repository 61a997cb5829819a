// Calls that give results, fail, end their workers, are cancelled, and make calls themselves.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <godwit/godwit.hpp>

long square(long n) { return n * n; }

int half(int n) {
  if (n % 2 != 0) throw std::invalid_argument("it is odd");
  return n / 2;
}

int one_or_trap(bool trap) {
  if (trap) __builtin_trap();
  return 1;
}

int nested(int n) {
  godwit::computer own{{.workers = 2}};
  return own.async([](int x) { return 2 * x; }, n).get();
}

int main() {
  godwit::computer grid{{.workers = 3}};
  std::vector<godwit::future<long>> squares;
  for (long i = 0; i < 1000; i++) squares.push_back(grid.async(square, i));
  long sum = 0;
  for (auto& one : squares) sum += one.get();
  std::printf("1000 squares: %ld\n", sum);

  try {
    grid.async(half, 7).get();
  } catch (const godwit::remote_error& error) {
    std::printf("error: %s\n", error.what());
  }

  std::vector<godwit::future<int>> ones;
  for (int i = 0; i < 21; i++) ones.push_back(grid.async(one_or_trap, i == 10));
  int good = 0, bad = 0;
  for (auto& one : ones) {
    try {
      good += one.get();
    } catch (const godwit::remote_error&) {
      bad++;
    }
  }
  std::printf("a call that traps: %s\ncalls beside it: %d of 20\n", bad == 1 ? "failed" : "?", good);

  auto late = grid.async(half, 2);
  auto never = grid.async(half, 4);
  never.cancel();
  try {
    never.get();
    std::printf("a call that was cancelled: the call was cancelled\n");  // it had begun: that may be
  } catch (const godwit::remote_error& error) {
    std::printf("a call that was cancelled: %s\n", error.what());
  }
  late.get();
  std::printf("from a worker's own computer: %d\n", grid.async(nested, 21).get());
}
