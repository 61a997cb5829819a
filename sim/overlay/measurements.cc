#include "overlay/measurements.h"

#include "overlay/checks.h"

namespace gw::sim::overlay_simulation {

using std::chrono::seconds;

namespace {

// Samples of ten thousand peers are expensive.
constexpr std::uint32_t kMany = 1000;
const Time kYouth = gw::overlay::Overlay::Config{}.youth;  // rounds take a second, afterwards five
constexpr std::uint64_t kLookedAt = 50;                    // peers measured each second in a large grid; in a small one a fifth
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

Time Measurements::sample_every() const {
  const Time often = environment_.population.hosts.size() >= kMany ? seconds(10) : seconds(1);
  return std::max(often, Time(scenario().duration / kMostSamples));
}

void Measurements::watch() {
  series_.perfect_leafsets.push_back(perfect_leafsets(environment_.population.hosts));
  if (series_.perfect_leafsets.back() == 1 && ring_perfect_ < environment_.disturbances.last()) ring_perfect_ = environment_.agenda.now();
  const std::uint64_t stride = std::max<std::uint64_t>(5, environment_.population.hosts.size() / kLookedAt);
  for (std::uint64_t i = environment_.rng.below(stride); i < environment_.population.hosts.size(); i += stride)
    if (environment_.population.hosts[i].up())
      environment_.log.complain(
          Verdict::safety, check_tables(environment_.population.hosts[i], environment_.population.hosts, environment_.population.index));
}

void Measurements::sample() {
  const std::uint64_t bytes = bytes_sent(environment_.population.hosts);
  const double minutes = in_seconds(sample_every()) / 60;
  series_.samples.push_back(
      {.seconds = in_seconds(environment_.agenda.now()),
       .dead_entries = dead_cache_entries(environment_.population.hosts, environment_.population.index),
       .coordinate_error =
           median(coordinate_errors(environment_.population.hosts, environment_.network.internet(), Rng(environment_.rng.next()))),
       .bytes_per_peer_minute = static_cast<double>(bytes - bytes_at_sample_) / honest_up(environment_.population.hosts) / minutes});
  bytes_at_sample_ = bytes;
  if (!scenario().until_good || environment_.agenda.now() <= quiet_from()) return;
  measure();
  goals_met_ = std::ranges::all_of(scenario().goals, [&](const Goal& goal) { return meets(goal, figures_); });
}

// The time after which there is no disturbance.
Time Measurements::quiet_from() const {
  Time last = scenario().start;
  if (scenario().killed > 0) last = std::max(last, scenario().killed_at);
  if (scenario().split_for > Time(0)) last = std::max(last, scenario().split_at + scenario().split_for);
  if (scenario().swarm) last = std::max(last, Disturbances::fault_time(scenario()));
  if (scenario().requests_per_second > 0) last = scenario().duration;
  return last;
}

void Measurements::mark_bytes() {
  bytes_at_mark_ = bytes_sent(environment_.population.hosts);
  mark_ = environment_.agenda.now();
}

void Measurements::measure() {
  const Membership membership = look_at_membership(environment_.population.hosts, environment_.population.index);
  figures_["components"] = membership.components;
  figures_["forgotten"] = membership.forgotten;
  figures_["wrongly_dead"] = membership.wrongly_dead;
  figures_["dead_entries"] = membership.dead_entries;
  figures_["dead_cache_entries"] = dead_cache_entries(environment_.population.hosts, environment_.population.index);
  figures_["known"] = membership.known;
  figures_["perfect_leafsets"] = perfect_leafsets(environment_.population.hosts);
  const double patience = in_seconds(environment_.agenda.now() - environment_.disturbances.last());
  figures_["leafset_seconds"] =
      ring_perfect_ < environment_.disturbances.last() ? patience : in_seconds(ring_perfect_ - environment_.disturbances.last());
  figures_["leafset_rounds"] = figures_["leafset_seconds"] / (environment_.disturbances.last() < kYouth ? 1 : 5);
  figures_["coordinate_error"] =
      median(coordinate_errors(environment_.population.hosts, environment_.network.internet(), Rng(environment_.rng.next())));
  figures_["good_size_estimates"] = good_size_estimates(environment_.population.hosts);
  const double minutes = in_seconds(environment_.agenda.now() - mark_) / 60;
  figures_["bytes_per_peer_minute"] =
      static_cast<double>(bytes_sent(environment_.population.hosts) - bytes_at_mark_) / honest_up(environment_.population.hosts) / minutes;
  environment_.questions.report(figures_);
}

void Measurements::judge() {
  measure();
  series_.in_degrees = in_degrees(environment_.population.hosts, environment_.population.index);
  for (const Host& host : environment_.population.hosts)
    if (host.up())
      environment_.log.complain(Verdict::safety, check_tables(host, environment_.population.hosts, environment_.population.index));
}

}  // namespace gw::sim::overlay_simulation
