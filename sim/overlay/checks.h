#pragma once
// What is true of an overlay simulation, looked at from outside. Each in a file of its own.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "overlay/host.h"
#include "overlay/internet.h"

namespace gw::sim::overlay_simulation {

using Index = std::unordered_map<Hash256, std::uint32_t>;  // hosts by id

// check_ring.cc: the share of live honest peers whose leafset holds exactly the next live peers on either side.
double perfect_leafsets(std::span<const Host> hosts);

// check_membership.cc: who knows whom. Only what live honest peers know counts.
struct Membership {
  std::uint32_t components = 0;    // of live honest peers, with a connection where one knows the other
  std::uint32_t forgotten = 0;     // live honest peers that nobody knows
  std::uint32_t wrongly_dead = 0;  // live honest peers that somebody takes for dead
  double dead_entries = 0;         // share of what is known that is not there any more
  double known = 0;                // share of the pairs of live honest peers that know each other
};
Membership look_at_membership(std::span<const Host> hosts, const Index& index);

// check_tables.cc: what is wrong with the tables of a peer, or nothing. They are bounded, without the peer itself, without doubles, and
// hold only what its owner has said.
std::string check_tables(const Host& host, std::span<const Host> hosts, const Index& index);

// check_distances.cc: relative errors of estimated round trips between random live honest peers, sorted.
std::vector<double> coordinate_errors(std::span<const Host> hosts, const Internet& internet, Rng rng);

// check_sampling.cc: in how many sampler caches each live honest peer is, sorted; the share of peers that estimate the size within 20 %;
// the share of entries in sampler caches that are of the dead.
std::vector<double> in_degrees(std::span<const Host> hosts, const Index& index);
double good_size_estimates(std::span<const Host> hosts);
double dead_cache_entries(std::span<const Host> hosts, const Index& index);

// The middle of a sorted list; 0 of none.
double median(const std::vector<double>& sorted);

}  // namespace gw::sim::overlay_simulation
