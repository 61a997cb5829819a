#include <algorithm>
#include <numeric>

#include "overlay/checks.h"

namespace gw::sim::overlay_simulation {
namespace {

using State = gw::overlay::Overlay::Known::State;

// Union-find.
class Groups {
 public:
  explicit Groups(std::size_t members) : parents_(members) { std::iota(parents_.begin(), parents_.end(), 0U); }

  std::uint32_t of(std::uint32_t member) {
    while (parents_[member] != member) member = parents_[member] = parents_[parents_[member]];
    return member;
  }
  void join(std::uint32_t a, std::uint32_t b) { parents_[of(a)] = of(b); }

 private:
  std::vector<std::uint32_t> parents_;
};

}  // namespace

Membership look_at_membership(std::span<const Host> hosts, const Index& index) {
  Groups groups(hosts.size());
  std::vector<bool> known(hosts.size());
  std::vector<bool> believed_dead(hosts.size());
  double entries = 0;
  double dead = 0;
  double pairs = 0;
  for (const Host& host : hosts) {
    if (!host.counts()) continue;
    for (const auto& entry : host.overlay->all()) {
      const Host& other = hosts[index.at(entry.descriptor.id.hash)];
      if (entry.state == State::dead) {
        if (other.counts()) believed_dead[other.index] = true;
        continue;
      }
      entries += 1;
      if (!other.up()) dead += 1;
      if (!other.counts()) continue;
      pairs += 1;
      known[other.index] = true;
      groups.join(host.index, other.index);
    }
  }
  Membership result;
  double alive = 0;
  for (const Host& host : hosts) {
    if (!host.counts()) continue;
    alive += 1;
    result.components += groups.of(host.index) == host.index;
    result.forgotten += !known[host.index];
    result.wrongly_dead += believed_dead[host.index];
  }
  result.dead_entries = entries == 0 ? 0 : dead / entries;
  result.known = alive < 2 ? 1 : pairs / (alive * (alive - 1));
  return result;
}

}  // namespace gw::sim::overlay_simulation
