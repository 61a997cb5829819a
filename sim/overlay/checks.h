#pragma once
// Measurements of an overlay simulation, made from outside the peers. Each has its own file.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "overlay/host.h"
#include "overlay/internet.h"

namespace gw::sim::overlay_simulation {

using Index = std::unordered_map<Hash256, std::uint32_t>;  // hosts by id

// Ring: the share of live honest peers whose leafset holds exactly the next live peers on either side.
double perfect_leafsets(std::span<const Host> hosts);

// Membership: which peers know each other. Only the tables of live honest peers count.
struct Membership {
  std::uint32_t components = 0;    // of the graph of live honest peers, with an edge where one knows the other
  std::uint32_t forgotten = 0;     // live honest peers that no other peer knows
  std::uint32_t wrongly_dead = 0;  // live honest peers that some peer believes dead
  double dead_entries = 0;         // share of table entries whose peers are dead
  double known = 0;                // share of the pairs of live honest peers that know each other
};
Membership look_at_membership(std::span<const Host> hosts, const Index& index);

// Tables: a complaint about the tables of a peer, or nothing. Tables are bounded, contain neither the peer itself nor duplicates, and hold
// only descriptors that their owners have signed.
std::string check_tables(const Host& host, std::span<const Host> hosts, const Index& index);

// Distances: relative errors of estimated round trips between random live honest peers, sorted.
std::vector<double> coordinate_errors(std::span<const Host> hosts, const Internet& internet, Rng rng);

// Sampling: in how many sampler caches each live honest peer is, sorted; the share of peers that estimate the size within 20 %;
// the share of entries in sampler caches whose peers are dead.
std::vector<double> in_degrees(std::span<const Host> hosts, const Index& index);
double good_size_estimates(std::span<const Host> hosts);
double dead_cache_entries(std::span<const Host> hosts, const Index& index);

// The median of a sorted list; 0 if it is empty.
double median(const std::vector<double>& sorted);

}  // namespace gw::sim::overlay_simulation
