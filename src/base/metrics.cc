#include "base/metrics.h"

#include <fmt/format.h>

#include <array>
#include <atomic>

namespace gw::metrics {
namespace {

using enum Metric;
using enum Kind;

constexpr std::array<Entry, kMetricCount> kEntries{{
    {connections_direct, counter, "godwit_transport_connections_direct_total", "Connections that one side dialled"},
    {connections_reverse, counter, "godwit_transport_connections_reverse_total", "Connections dialled because the other side was asked to"},
    {connections_relayed, counter, "godwit_transport_connections_relayed_total", "Connections through a relay"},
    {connections_ended, counter, "godwit_transport_connections_ended_total", "Connections to peers that ended, for whatever cause"},
    {dials_failed, counter, "godwit_transport_dials_failed_total", "Attempts of ours to reach a peer that failed"},
    {relay_circuits, gauge, "godwit_relay_circuits", "Circuits between other peers that go through this one"},
    {relay_bytes, counter, "godwit_relay_bytes_total", "Bytes relayed for other peers"},
    {relay_refused, counter, "godwit_relay_refused_total", "Circuits for others that were refused"},
    {bytes_received, counter, "godwit_transport_received_bytes_total", "Bytes received from peers"},
    {bytes_sent, counter, "godwit_transport_sent_bytes_total", "Bytes sent to peers"},
    {messages_received, counter, "godwit_peer_messages_received_total", "Messages received from peers"},
    {messages_sent, counter, "godwit_peer_messages_sent_total", "Messages sent to peers"},
    {messages_refused, counter, "godwit_peer_messages_refused_total", "Messages that broke a rule; their senders were disconnected"},
    {peers_known, gauge, "godwit_overlay_peers", "Peers of all grids that this one keeps track of"},
    {peers_alive, gauge, "godwit_overlay_peers_alive", "Those of them that count as alive"},
    {peers_came, counter, "godwit_overlay_peers_came_total", "Peers that turned out to be there"},
    {peers_went, counter, "godwit_overlay_peers_went_total", "Peers that turned out to be gone"},
    {jobs_accepted, counter, "godwit_jobs_accepted_total", "Jobs that people handed to this peer"},
    {jobs_over, counter, "godwit_jobs_over_total", "Jobs of this peer that are over"},
    {jobs_running, gauge, "godwit_jobs_running", "Jobs of this peer that are not over"},
    {threads_placed, counter, "godwit_jobs_threads_placed_total", "Threads of this peer's jobs that got their first place"},
    {threads_waiting, gauge, "godwit_jobs_threads_waiting", "Threads of this peer's jobs that have no place now"},
    {hosts_lost, counter, "godwit_jobs_hosts_lost_total", "Peers that went away with threads of this peer's jobs"},
    {images_kept, gauge, "godwit_keeper_threads", "Threads of others whose state this peer keeps"},
    {slots, gauge, "godwit_slots", "Slots this peer lends"},
    {slots_free, gauge, "godwit_slots_free", "Slots that are free now"},
    {record_batches, counter, "godwit_disk_record_batches_total", "Batches of records handed to the disk"},
    {blobs_stored, counter, "godwit_disk_blobs_stored_total", "Blobs handed to the disk"},
    {blobs_loaded, counter, "godwit_disk_blobs_loaded_total", "Blobs asked of the disk"},
    {blobs_dropped, counter, "godwit_disk_blobs_dropped_total", "Blobs the disk was told to forget"},
    {workers_started, counter, "godwit_workers_started_total", "Worker processes that got a job"},
    {workers_lost, counter, "godwit_workers_lost_total", "Worker processes that ended by themselves or were ended for what they did"},
    {workers_running, gauge, "godwit_workers", "Worker processes with a job"},
    {workers_paused, counter, "godwit_workers_paused_total", "Pauses of workers, where no control group holds their share of the CPU"},
    {requests, counter, "godwit_gateway_requests_total", "Requests to the local API"},
    {requests_refused, counter, "godwit_gateway_requests_refused_total", "Requests to the local API that were answered with an error"},
}};

std::array<std::atomic<std::uint64_t>, kMetricCount> values{};

}  // namespace

std::span<const Entry> entries() { return kEntries; }

void count(Metric metric, std::uint64_t by) { values[static_cast<std::size_t>(metric)].fetch_add(by, std::memory_order_relaxed); }

void set(Metric metric, std::uint64_t value) { values[static_cast<std::size_t>(metric)].store(value, std::memory_order_relaxed); }

std::uint64_t value(Metric metric) { return values[static_cast<std::size_t>(metric)].load(std::memory_order_relaxed); }

std::string text() {
  std::string text;
  for (const Entry& entry : kEntries)
    fmt::format_to(std::back_inserter(text), "# HELP {0} {1}.\n# TYPE {0} {2}\n{0} {3}\n", entry.name, entry.help,
                   entry.kind == counter ? "counter" : "gauge", value(entry.metric));
  return text;
}

}  // namespace gw::metrics
