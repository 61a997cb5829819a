// The travelling salesman by a genetic algorithm: order crossover, swap mutation, and 2-opt on every child.
//
//   godwit run examples/tsp.cpp
//   godwit run examples/tsp.cpp -- 400 300            (cities, generations)
//
// The cities lie at random in a square of 10,000 x 10,000. Prints the best tour whenever it gets shorter.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace {

using Tour = std::vector<std::uint32_t>;

// xorshift64*: the same sequence everywhere, unlike the distributions of <random>.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint32_t below(std::uint32_t bound) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 0x2545F4914F6CDD1DULL >> 32) * bound >> 32);
  }

 private:
  std::uint64_t state_;
};

class Map {
 public:
  Map(std::uint32_t cities, Random& random) : cities_(cities), distances_(static_cast<std::size_t>(cities) * cities) {
    std::vector<std::pair<double, double>> places(cities);
    for (auto& [x, y] : places) {
      x = random.below(10000);
      y = random.below(10000);
    }
    for (std::uint32_t a = 0; a < cities; a++) {
      for (std::uint32_t b = 0; b < cities; b++) {
        const double dx = places[a].first - places[b].first;
        const double dy = places[a].second - places[b].second;
        distances_[static_cast<std::size_t>(a) * cities + b] = std::sqrt(dx * dx + dy * dy);
      }
    }
  }

  std::uint32_t cities() const { return cities_; }
  double distance(std::uint32_t a, std::uint32_t b) const { return distances_[static_cast<std::size_t>(a) * cities_ + b]; }

  double length(const Tour& tour) const {
    double sum = distance(tour.back(), tour.front());
    for (std::size_t i = 1; i < tour.size(); i++) sum += distance(tour[i - 1], tour[i]);
    return sum;
  }

 private:
  std::uint32_t cities_;
  std::vector<double> distances_;
};

// One sweep of 2-opt: turns round every stretch whose two end roads cross cheaper the other way. Says whether the tour got shorter.
bool shorten(const Map& map, Tour& tour) {
  bool shorter = false;
  const std::size_t n = tour.size();
  for (std::size_t i = 0; i + 2 < n; i++) {
    for (std::size_t j = i + 2; j < n; j++) {
      const std::uint32_t a = tour[i], b = tour[i + 1], c = tour[j], d = tour[(j + 1) % n];
      if (map.distance(a, c) + map.distance(b, d) + 1e-9 >= map.distance(a, b) + map.distance(c, d)) continue;
      std::reverse(tour.begin() + static_cast<std::ptrdiff_t>(i) + 1, tour.begin() + static_cast<std::ptrdiff_t>(j) + 1);
      shorter = true;
    }
  }
  return shorter;
}

// Order crossover: a stretch of the mother, the other cities in the order of the father.
Tour cross(const Tour& mother, const Tour& father, Random& random) {
  const auto n = static_cast<std::uint32_t>(mother.size());
  auto [begin, end] = std::minmax({random.below(n), random.below(n)});
  std::vector<bool> taken(n);
  for (std::uint32_t i = begin; i <= end; i++) taken[mother[i]] = true;
  Tour child(mother);
  auto next = father.begin();
  for (std::uint32_t i = 0; i < n; i++) {
    if (i >= begin && i <= end) continue;
    while (taken[*next]) ++next;
    child[i] = *next++;
  }
  return child;
}

class Population {
 public:
  Population(const Map& map, Random& random) : map_(map), random_(random) {
    for (int i = 0; i < kSize; i++) {
      Tour tour(map.cities());
      std::iota(tour.begin(), tour.end(), 0U);
      for (std::uint32_t k = map.cities() - 1; k > 0; k--) std::swap(tour[k], tour[random.below(k + 1)]);
      members_.push_back({map.length(tour), std::move(tour)});
    }
    rank();
  }

  double best() const { return members_.front().length; }

  // The worse half makes room for children of the better half.
  void next_generation() {
    for (int i = kSize / 2; i < kSize; i++) {
      const Tour& mother = parent();
      const Tour& father = parent();
      Tour child = cross(mother, father, random_);
      const std::uint32_t here = random_.below(map_.cities());
      const std::uint32_t there = random_.below(map_.cities());
      std::swap(child[here], child[there]);
      for (int sweep = 0; sweep < kSweeps && shorten(map_, child); sweep++) {
      }
      members_[i] = {map_.length(child), std::move(child)};
    }
    rank();
  }

 private:
  struct Member {
    double length;
    Tour tour;
  };

  static constexpr int kSize = 24;
  static constexpr int kSweeps = 6;

  const Tour& parent() { return members_[random_.below(kSize / 2)].tour; }

  void rank() {
    std::sort(members_.begin(), members_.end(),
              [](const Member& a, const Member& b) { return a.length != b.length ? a.length < b.length : a.tour < b.tour; });
  }

  const Map& map_;
  Random& random_;
  std::vector<Member> members_;
};

}  // namespace

int main(int argc, char** argv) {
  const int cities = argc > 1 ? std::atoi(argv[1]) : 180;
  const int generations = argc > 2 ? std::atoi(argv[2]) : 200;
  if (cities < 5 || cities > 5000 || generations < 1) {
    std::fprintf(stderr, "usage: tsp [cities 5..5000] [generations]\n");
    return 2;
  }
  Random random(20240229);
  const Map map(static_cast<std::uint32_t>(cities), random);
  Population population(map, random);
  double best = population.best();
  std::printf("generation %4d  tour %12.3f\n", 0, best);
  for (int generation = 1; generation <= generations; generation++) {
    population.next_generation();
    if (population.best() >= best) continue;
    best = population.best();
    std::printf("generation %4d  tour %12.3f\n", generation, best);
  }
  std::printf("%d cities, %d generations: best tour %.3f\n", cities, generations, best);
  return 0;
}
