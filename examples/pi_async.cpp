// Pi by Monte Carlo: a hundred calls, spread over the grid.
//
//   godwit run examples/pi_async.cpp --workers 4
//
// Expected output: pi is about 3.1416

#include <cstdio>
#include <random>
#include <vector>

#include <godwit/godwit.hpp>

long inside(unsigned seed, long points) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit;
  long count = 0;
  for (long i = 0; i < points; i++) {
    const double x = unit(random), y = unit(random);
    count += x * x + y * y < 1;
  }
  return count;
}

int main() {
  godwit::computer grid{{.workers = 4}};
  std::vector<godwit::future<long>> parts;
  for (unsigned seed = 1; seed <= 100; seed++) parts.push_back(grid.async(inside, seed, 1000000l));
  long count = 0;
  for (auto& part : parts) count += part.get();
  std::printf("pi is about %.4f\n", 4.0 * count / 100e6);
}
