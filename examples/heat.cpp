// The heat equation on a square plate, in strips: each strip is a thread, perhaps on another peer, and writes its edges to its neighbours
// in every step. The result does not depend on the number of strips.
//
//   godwit run examples/heat.cpp --workers 4 -- 4 200
//
// Expected output: after 200 steps: 29.454712 next to the hot edge, 28420.500478 in all

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <godwit/godwit.hpp>

namespace {

constexpr int kSize = 128;
constexpr double kHot = 32;
using Row = std::vector<double>;

enum Tags : godwit::tag { kNeighbours, kUp, kDown, kStrip };

// The strip of rows [first, first + rows), with a row of the neighbour, or the edge of the plate, on either side.
std::vector<Row> relax(int first, int rows, int steps, godwit::thread_id above, godwit::thread_id below) {
  std::vector<Row> plate(rows + 2, Row(kSize, 0)), next = plate;
  if (first == 0) plate[0] = next[0] = Row(kSize, kHot);
  for (int step = 0; step < steps; step++) {
    if (above != 0) godwit::send(above, kUp, plate[1]);
    if (below != 0) godwit::send(below, kDown, plate[rows]);
    if (below != 0) plate[rows + 1] = godwit::receive_as<Row>(below, kUp);
    if (above != 0) plate[0] = godwit::receive_as<Row>(above, kDown);
    for (int y = 1; y <= rows; y++)
      for (int x = 1; x + 1 < kSize; x++) next[y][x] = (plate[y - 1][x] + plate[y + 1][x] + plate[y][x - 1] + plate[y][x + 1]) / 4;
    std::swap(plate, next);
    if (first == 0) plate[0] = Row(kSize, kHot);
  }
  return {plate.begin() + 1, plate.end() - 1};
}

}  // namespace

int main(int argc, char** argv) {
  const int strips = argc > 1 ? std::atoi(argv[1]) : 4, steps = argc > 2 ? std::atoi(argv[2]) : 200;
  if (strips < 1 || kSize % strips != 0 || steps < 1) {
    std::fprintf(stderr, "usage: heat STRIPS STEPS, where STRIPS divides %d\n", kSize);
    return 2;
  }
  const int rows = kSize / strips;
  const godwit::thread_id main_thread = godwit::this_thread::id();
  std::vector<godwit::thread> threads;
  for (int strip = 0; strip < strips; strip++)
    threads.emplace_back([=] {
      const auto [above, below] = godwit::receive_as<std::pair<godwit::thread_id, godwit::thread_id>>(main_thread, kNeighbours);
      godwit::send(main_thread, kStrip, relax(strip * rows, rows, steps, above, below));
    });
  for (int strip = 0; strip < strips; strip++) {
    const godwit::thread_id above = strip > 0 ? threads[strip - 1].id() : 0, below = strip + 1 < strips ? threads[strip + 1].id() : 0;
    godwit::send(threads[strip].id(), kNeighbours, std::pair(above, below));
  }
  std::vector<Row> plate;
  for (const auto& thread : threads)
    for (const Row& row : godwit::receive_as<std::vector<Row>>(thread.id(), kStrip)) plate.push_back(row);
  double heat = 0;
  for (const Row& row : plate) heat = std::accumulate(row.begin(), row.end(), heat);
  std::printf("after %d steps: %.6f next to the hot edge, %.6f in all\n", steps, plate[0][kSize / 2], heat);
}
