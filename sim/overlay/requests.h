#pragma once
// The requests of an overlay simulation, and how many answers were right.

#include <cstdint>
#include <map>
#include <utility>

#include "base/hash.h"
#include "overlay/figures.h"

namespace gw::sim::overlay_simulation {

// Compares the first eight bytes only: enough for random ids. Distances go around the ring.
std::uint64_t on_ring(const Hash256& hash);
inline std::uint64_t ring_distance(std::uint64_t a, std::uint64_t b) { return a - b < b - a ? a - b : b - a; }

class Requests {
 public:
  struct Request {
    Hash256 key;
    std::uint32_t root;  // when it was asked
  };

  void ask(std::uint32_t host, std::uint64_t number, const Request& request) { open_[{host, number}] = request; }
  // Null: there is no such request.
  const Request* find(std::uint32_t host, std::uint64_t number) const;
  enum class Answer : std::uint8_t { right, wrong, none };
  void close(std::uint32_t host, std::uint64_t number, Answer answer, std::uint32_t hops);
  // The host died before it got its answers.
  void forget(std::uint32_t host);

  void report(Figures& figures) const;

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, Request> open_;
  std::uint64_t answers_[3] = {0, 0, 0};
  std::uint64_t hops_ = 0;
};

}  // namespace gw::sim::overlay_simulation
