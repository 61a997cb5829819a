// What an overlay simulation is watched for on the way, and what is said about it at the end.

#include <fmt/format.h>

#include "overlay/checks.h"
#include "overlay/overlay_simulation.h"

namespace gw::sim::overlay_simulation {

using std::chrono::seconds;

namespace {

// Looking at ten thousand peers takes a while.
constexpr std::uint32_t kMany = 1000;
const Time kYouth = gw::overlay::Overlay::Config{}.youth;  // rounds take a second, afterwards five
constexpr std::uint64_t kLookedAt = 50;                    // of many, each second; of few a fifth
constexpr std::int64_t kMostSamples = 3600;

std::uint64_t bytes_sent(const std::vector<Host>& hosts) {
  std::uint64_t sum = 0;
  for (const Host& host : hosts)
    if (host.byzantine == nullptr) sum += host.bytes_sent;
  return sum;
}

double honest_up(const std::vector<Host>& hosts) {
  return static_cast<double>(std::ranges::count_if(hosts, [](const Host& host) { return host.up() && host.byzantine == nullptr; }));
}

}  // namespace

Time OverlaySimulation::sample_every() const {
  const Time often = hosts_.size() >= kMany ? seconds(10) : seconds(1);
  return std::max(often, Time(scenario_.duration / kMostSamples));
}

void OverlaySimulation::watch() {
  series_.perfect_leafsets.push_back(perfect_leafsets(hosts_));
  if (series_.perfect_leafsets.back() == 1 && ring_perfect_ < disturbed_) ring_perfect_ = now_;
  const std::uint64_t stride = std::max<std::uint64_t>(5, hosts_.size() / kLookedAt);
  for (std::uint64_t i = rng_.below(stride); i < hosts_.size(); i += stride)
    if (hosts_[i].up()) complain(Verdict::safety, check_tables(hosts_[i], hosts_, index_));
}

void OverlaySimulation::sample() {
  const std::uint64_t bytes = bytes_sent(hosts_);
  const double minutes = in_seconds(sample_every()) / 60;
  series_.samples.push_back({.seconds = in_seconds(now_),
                             .dead_entries = dead_cache_entries(hosts_, index_),
                             .coordinate_error = median(coordinate_errors(hosts_, internet_, Rng(rng_.next()))),
                             .bytes_per_peer_minute = static_cast<double>(bytes - bytes_at_sample_) / honest_up(hosts_) / minutes});
  bytes_at_sample_ = bytes;
  if (!scenario_.until_good || now_ <= quiet_from()) return;
  measure();
  over_ = goals_met();
}

// What happens is over by then.
Time OverlaySimulation::quiet_from() const {
  Time last = scenario_.start;
  if (scenario_.killed > 0) last = std::max(last, scenario_.killed_at);
  if (scenario_.split_for > Time(0)) last = std::max(last, scenario_.split_at + scenario_.split_for);
  if (scenario_.swarm) last = std::max(last, fault_time());
  if (scenario_.requests_per_second > 0) last = scenario_.duration;
  return last;
}

void OverlaySimulation::mark_bytes() {
  bytes_at_mark_ = bytes_sent(hosts_);
  mark_ = now_;
}

void OverlaySimulation::measure() {
  const Membership membership = look_at_membership(hosts_, index_);
  figures_["components"] = membership.components;
  figures_["forgotten"] = membership.forgotten;
  figures_["wrongly_dead"] = membership.wrongly_dead;
  figures_["dead_entries"] = membership.dead_entries;
  figures_["dead_cache_entries"] = dead_cache_entries(hosts_, index_);
  figures_["known"] = membership.known;
  figures_["perfect_leafsets"] = perfect_leafsets(hosts_);
  const double patience = in_seconds(now_ - disturbed_);
  figures_["leafset_seconds"] = ring_perfect_ < disturbed_ ? patience : in_seconds(ring_perfect_ - disturbed_);
  figures_["leafset_rounds"] = figures_["leafset_seconds"] / (disturbed_ < kYouth ? 1 : 5);
  figures_["coordinate_error"] = median(coordinate_errors(hosts_, internet_, Rng(rng_.next())));
  figures_["good_size_estimates"] = good_size_estimates(hosts_);
  const double minutes = in_seconds(now_ - mark_) / 60;
  figures_["bytes_per_peer_minute"] = static_cast<double>(bytes_sent(hosts_) - bytes_at_mark_) / honest_up(hosts_) / minutes;
  requests_.report(figures_);
}

bool OverlaySimulation::goals_met() const {
  return std::ranges::all_of(scenario_.goals, [&](const Goal& goal) { return meets(goal, figures_); });
}

void OverlaySimulation::judge() {
  measure();
  series_.in_degrees = in_degrees(hosts_, index_);
  for (const Host& host : hosts_)
    if (host.up()) complain(Verdict::safety, check_tables(host, hosts_, index_));
}

}  // namespace gw::sim::overlay_simulation
