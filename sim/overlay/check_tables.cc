#include <fmt/format.h>

#include <algorithm>

#include "overlay/checks.h"

namespace gw::sim::overlay_simulation {
namespace {

// Bounds of caches, neighbours, leaves, the prefix table of ten thousand peers and tombstones; they do not depend on the grid's size.
constexpr std::size_t kMostKnown = 1500;

std::string check_sizes(const gw::overlay::Overlay& overlay) {
  const auto over = [](const char* table, std::size_t size, std::size_t limit) {
    return size > limit ? fmt::format("a {} of {} entries, limit {}", table, size, limit) : std::string();
  };
  for (const std::string& wrong :
       {over("cache", overlay.sampler().cache().size(), 100), over("fallback cache", overlay.sampler().fallback().size(), 32),
        over("leafset", overlay.ring().leafset().members().size(), 16), over("prefix table", overlay.ring().table().entries().size(), 480)})
    if (!wrong.empty()) return wrong;
  return "";
}

}  // namespace

std::string check_tables(const Host& host, std::span<const Host> hosts, const Index& index) {
  if (const std::string wrong = check_sizes(*host.overlay); !wrong.empty()) return fmt::format("host {} has {}", host.index, wrong);
  const auto known = host.overlay->all();
  if (known.size() > kMostKnown) return fmt::format("host {} knows {} peers", host.index, known.size());
  const gw::overlay::PeerId* last = nullptr;
  for (const auto& entry : known) {
    const gw::overlay::Descriptor& said = entry.descriptor;
    if (said.id == host.id) return fmt::format("host {} knows itself", host.index);
    if (last != nullptr && !(*last < said.id)) return fmt::format("host {} knows somebody twice", host.index);
    last = &said.id;
    const auto owner = index.find(said.id.hash);
    if (owner == index.end()) return fmt::format("host {} knows somebody who never was", host.index);
    const Host& other = hosts[owner->second];
    if (other.up() && other.overlay->self().incarnation < said.incarnation)
      return fmt::format("host {} believes that host {} said what it never said", host.index, other.index);
  }
  return "";
}

}  // namespace gw::sim::overlay_simulation
