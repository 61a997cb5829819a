// Shortest paths in a random road network with std::priority_queue: pointer-like jumps and a binary heap.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "../kernel.h"

namespace {

struct Road {
  std::uint32_t to;
  std::uint32_t length;
};

using Network = std::vector<std::vector<Road>>;

Network make_network(std::uint32_t places) {
  KernelRandom random{23};
  Network network(places);
  for (std::uint32_t from = 0; from < places; from++) {
    network[from].push_back({(from + 1) % places, 1000});
    for (int i = 0; i < 4; i++) {
      const std::uint32_t to = kernel_random_below(&random, places);
      const std::uint32_t length = 1 + kernel_random_below(&random, 999);
      network[from].push_back({to, length});
      network[to].push_back({from, length});
    }
  }
  return network;
}

std::vector<std::uint64_t> distances_from(const Network& network, std::uint32_t start) {
  using Entry = std::pair<std::uint64_t, std::uint32_t>;
  std::vector<std::uint64_t> distances(network.size(), std::numeric_limits<std::uint64_t>::max());
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  distances[start] = 0;
  open.push({0, start});
  while (!open.empty()) {
    const auto [distance, place] = open.top();
    open.pop();
    if (distance > distances[place]) continue;
    for (const Road& road : network[place]) {
      const std::uint64_t through = distance + road.length;
      if (through >= distances[road.to]) continue;
      distances[road.to] = through;
      open.push({through, road.to});
    }
  }
  return distances;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t searches = kernel_size(argc, argv, 12);
  const Network network = make_network(40000);
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < searches; i++) {
    for (const std::uint64_t distance : distances_from(network, i * 997 % 40000)) sum = sum * 31 + distance;
  }
  std::printf("dijkstra %016llx\n", static_cast<unsigned long long>(sum));
  return 0;
}
