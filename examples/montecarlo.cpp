// Pi by Monte Carlo, as tasks: `sample` is called again and again, by main here and by a task host elsewhere, each time from the same
// state, so that its result depends on its argument alone.
//
//   godwit run examples/montecarlo.cpp -- 8 1000000

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <godwit/task.hpp>

namespace {

struct Sample {
  std::uint64_t seed;
  std::uint64_t points;
};

std::uint64_t next(std::uint64_t& state) {  // splitmix64
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

double unit(std::uint64_t& state) { return static_cast<double>(next(state) >> 11) * 0x1p-53; }

// How many of the points in the unit square lie in the quarter of a circle.
std::uint64_t sample(Sample what) {
  std::uint64_t state = what.seed, inside = 0;
  for (std::uint64_t i = 0; i < what.points; i++) {
    const double x = unit(state), y = unit(state);
    inside += x * x + y * y < 1;
  }
  return inside;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t tasks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 8;
  const std::uint64_t points = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000000;
  if (tasks == 0 || points == 0) {
    std::fprintf(stderr, "usage: montecarlo TASKS POINTS\n");
    return 2;
  }
  std::uint64_t inside = 0;
  for (std::uint64_t seed = 1; seed <= tasks; seed++) inside += sample({seed, points});
  std::printf("task %u: pi is about %.6f\n", godwit::task_number<sample>(),
              4.0 * static_cast<double>(inside) / static_cast<double>(tasks * points));
}
