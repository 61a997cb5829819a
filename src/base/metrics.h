#pragma once
// Counters and gauges of this process, for operators and their tools.
//
//   metrics::count(Metric::bytes_sent, size);      metrics::set(Metric::peers_alive, 12);
//
// A fixed list and one array of atomic numbers: counting costs a nanosecond and can neither fail nor grow. Any thread.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gw::metrics {

// In the order of the table in metrics.cc, which has their names and meanings.
enum class Metric : std::uint8_t {
  connections_direct,
  connections_reverse,
  connections_relayed,
  connections_ended,
  dials_failed,
  relay_circuits,
  relay_bytes,
  relay_refused,
  bytes_received,
  bytes_sent,
  messages_received,
  messages_sent,
  messages_refused,
  peers_known,
  peers_alive,
  peers_came,
  peers_went,
  jobs_accepted,
  jobs_over,
  jobs_running,
  threads_placed,
  threads_waiting,
  hosts_lost,
  images_kept,
  slots,
  slots_free,
  record_batches,
  blobs_stored,
  blobs_loaded,
  blobs_dropped,
  workers_started,
  workers_lost,
  workers_running,
  workers_paused,
  requests,
  requests_refused,
};
inline constexpr std::size_t kMetricCount = 36;

enum class Kind : std::uint8_t { counter, gauge };  // only grows; goes up and down
struct Entry {
  Metric metric;
  Kind kind;
  std::string_view name;  // godwit_<module>_<what>, counters with _total
  std::string_view help;
};
std::span<const Entry> entries();

void count(Metric metric, std::uint64_t by = 1);  // REQUIRES: a counter
void set(Metric metric, std::uint64_t value);     // a gauge, or a counter that is kept elsewhere
std::uint64_t value(Metric metric);

// All metrics in Prometheus format.
std::string text();

}  // namespace gw::metrics
