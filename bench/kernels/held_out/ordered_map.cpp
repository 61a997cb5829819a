// A std::map under insertions, look-ups, range walks and removals: a red-black tree of small heap blocks.
#include <cstdint>
#include <cstdio>
#include <map>

#include "../kernel.h"

int main(int argc, char** argv) {
  const std::uint32_t operations = kernel_size(argc, argv, 1200000);
  KernelRandom random{97};
  std::map<std::uint32_t, std::uint64_t> map;
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < operations; i++) {
    const std::uint32_t key = kernel_random_below(&random, 100000);
    switch (kernel_random_below(&random, 4)) {
      case 0:
      case 1:
        map[key] += i;
        break;
      case 2: {
        auto at = map.lower_bound(key);
        for (int step = 0; step < 10 && at != map.end(); step++, ++at) sum = sum * 31 + at->first + at->second;
        break;
      }
      default:
        sum += map.erase(key);
    }
  }
  std::printf("ordered_map %zu %016llx\n", map.size(), static_cast<unsigned long long>(sum));
  return 0;
}
