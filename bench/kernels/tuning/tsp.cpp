// Genetic search for a short tour with 2-opt: integer and double arrays in std::vector, data-dependent branches.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "../kernel.h"

namespace {

constexpr std::uint32_t kCities = 200;
constexpr std::size_t kPopulation = 20;

using Tour = std::vector<std::uint32_t>;

KernelRandom randomness{7};

std::uint32_t below(std::uint32_t bound) { return kernel_random_below(&randomness, bound); }

std::vector<double> random_distances() {
  std::vector<double> x(kCities), y(kCities), distances(kCities * kCities);
  for (std::uint32_t i = 0; i < kCities; i++) {
    x[i] = below(10000);
    y[i] = below(10000);
  }
  for (std::uint32_t i = 0; i < kCities; i++) {
    for (std::uint32_t j = 0; j < kCities; j++) {
      const double dx = x[i] - x[j], dy = y[i] - y[j];
      distances[i * kCities + j] = std::sqrt(dx * dx + dy * dy);
    }
  }
  return distances;
}

double length(const std::vector<double>& distances, const Tour& tour) {
  double sum = 0;
  for (std::uint32_t i = 0; i < kCities; i++) sum += distances[tour[i] * kCities + tour[(i + 1) % kCities]];
  return sum;
}

bool two_opt(const std::vector<double>& distances, Tour& tour) {
  bool shorter = false;
  for (std::uint32_t i = 0; i + 1 < kCities; i++) {
    for (std::uint32_t j = i + 2; j < kCities; j++) {
      const std::uint32_t a = tour[i], b = tour[i + 1], c = tour[j], d = tour[(j + 1) % kCities];
      const double now = distances[a * kCities + b] + distances[c * kCities + d];
      if (distances[a * kCities + c] + distances[b * kCities + d] + 1e-9 >= now) continue;
      std::reverse(tour.begin() + i + 1, tour.begin() + j + 1);
      shorter = true;
    }
  }
  return shorter;
}

Tour cross(const Tour& mother, const Tour& father) {
  const std::uint32_t one = below(kCities), other = below(kCities);
  const std::uint32_t begin = std::min(one, other), end = std::max(one, other);
  std::vector<char> taken(kCities);
  for (std::uint32_t i = begin; i <= end; i++) taken[mother[i]] = 1;
  Tour child = mother;
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < kCities; i++) {
    if (i >= begin && i <= end) continue;
    while (taken[father[next]]) next++;
    child[i] = father[next++];
  }
  return child;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t generations = kernel_size(argc, argv, 250);
  const std::vector<double> distances = random_distances();
  std::vector<std::pair<double, Tour>> population(kPopulation);
  for (auto& [cost, tour] : population) {
    tour.resize(kCities);
    std::iota(tour.begin(), tour.end(), 0U);
    for (std::uint32_t i = kCities - 1; i > 0; i--) std::swap(tour[i], tour[below(i + 1)]);
    cost = length(distances, tour);
  }
  for (std::uint32_t generation = 0; generation < generations; generation++) {
    std::sort(population.begin(), population.end());
    for (std::size_t i = kPopulation / 2; i < kPopulation; i++) {
      const std::uint32_t mother = below(kPopulation / 2), father = below(kPopulation / 2);
      Tour child = cross(population[mother].second, population[father].second);
      const std::uint32_t here = below(kCities), there = below(kCities);
      std::swap(child[here], child[there]);
      for (int sweep = 0; sweep < 6 && two_opt(distances, child); sweep++) {
      }
      population[i] = {length(distances, child), std::move(child)};
    }
  }
  std::printf("tsp %.6f\n", std::min_element(population.begin(), population.end())->first);
  return 0;
}
