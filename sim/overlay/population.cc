#include "overlay/population.h"

#include <fmt/format.h>

#include <charconv>

#include "overlay/internet.h"

namespace gw::sim::overlay_simulation {

// The first host is honest and can be dialled: the others join through it.
Population::Population(const Scenario& scenario, const FaultMix& faults, Rng& rng, Rng& fault_rng) {
  const std::uint64_t seed = rng.next();
  hosts.reserve(scenario.peers);
  const std::uint64_t secret = Rng(seed).next();
  Rng luck(rng.next());
  for (std::uint32_t i = 0; i < scenario.peers; ++i) {
    Host& host = hosts.emplace_back(i, SimSigner(sim_key(seed, i), secret), fmt::format("h{}:1", i), Rng(luck.next()));
    index[host.id.hash] = i;
    if (i > 0 && chance(fault_rng, faults.outbound)) {
      host.firewall = fault_rng.below(4) == 0 ? Host::Firewall::refusing : Host::Firewall::silent;
      if (fault_rng.below(2) == 0) host.address.clear();
    }
    if (i > 0 && chance(fault_rng, faults.liars))
      host.byzantine = std::make_unique<ByzantinePeer>(grid, host.signer, Rng(fault_rng.next()));
    if (chance(fault_rng, faults.slow)) host.lag = std::chrono::milliseconds(fault_rng.below(800));
    if (chance(fault_rng, faults.drift)) host.drift = (uniform(fault_rng) - 0.5) * 2e-3;
    host.clock_offset = Time(fault_rng.below(1'000'000'000'000));
    host.free_slots = chance(rng, scenario.busy) ? 0 : 1;
  }
}

std::optional<std::uint32_t> Population::at_address(const std::string& address) const {
  std::uint32_t number = 0;
  const auto end = address.find(':');
  const auto parsed = std::from_chars(address.data() + 1, address.data() + std::min(end, address.size()), number);
  if (parsed.ec != std::errc() || number >= hosts.size()) return std::nullopt;
  return number;
}

}  // namespace gw::sim::overlay_simulation
