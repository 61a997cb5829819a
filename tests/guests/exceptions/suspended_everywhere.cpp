// Long work in try blocks, handlers and destructors that run because of an exception: wherever it is suspended, all of them are open.
#include <cstdio>
#include <stdexcept>
#include <string>

static unsigned mix(unsigned seed, int rounds) {
  for (int i = 0; i < rounds; ++i) seed = seed * 1664525u + 1013904223u + (seed >> 13);
  return seed;
}

struct Worker {
  unsigned& total;
  unsigned seed;
  ~Worker() { total ^= mix(seed, 150); }
};

static unsigned descend(unsigned& total, unsigned depth) {
  Worker outer{total, depth};
  if (depth == 0) throw std::runtime_error("bottom " + std::to_string(mix(total, 150)));
  try {
    return descend(total, depth - 1);
  } catch (const std::runtime_error& e) {
    Worker inner{total, depth * 7};
    total ^= mix(static_cast<unsigned>(std::string(e.what()).size()), 150);
    if (depth % 2) throw;
    try {
      throw depth;
    } catch (unsigned v) {
      total ^= mix(v, 150);
    }
    throw std::runtime_error(std::string(e.what()) + "," + std::to_string(depth));
  }
}

int main() {
  unsigned total = 1;
  for (unsigned depth = 0; depth < 5; ++depth) {
    try {
      descend(total, depth);
    } catch (const std::exception& e) {
      std::printf("%s: %u\n", e.what(), total);
    }
  }
}
