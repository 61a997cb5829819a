// A connection between two peers, beside a bare TLS connection between the same two processes.

#include <chrono>

#include "bare_tls.h"
#include "echo_peer.h"
#include "statistics.h"
#include "suites.h"
#include "transport_load.h"

namespace gw::bench {
namespace {

constexpr std::size_t kSmallBytes = 64;
constexpr std::size_t kRoundTrips = 5'000, kRequests = 200'000, kWindow = 1'000;
constexpr std::chrono::milliseconds kBulkTime{1'500};

struct Series {
  std::vector<double> bare_us, ours_us, ratio, requests, megabytes, control_ms;
};

Status measure_once(const EchoPeer& peer, TransportLoad& load, Series& series) {
  GW_TRY(const auto bare, bare_tls_round_trips(peer.bare_tls_at(), kSmallBytes, kRoundTrips));
  GW_TRY(const auto ours, load.round_trips(kSmallBytes, kRoundTrips));
  series.bare_us.push_back(percentile(bare, 0.5));
  series.ours_us.push_back(percentile(ours, 0.5));
  series.ratio.push_back(series.ours_us.back() / series.bare_us.back());
  GW_TRY(const double requests, load.requests_per_second(kSmallBytes, kWindow, kRequests));
  series.requests.push_back(requests);
  GW_TRY(const auto bulk, load.bulk(kBulkTime));
  series.megabytes.push_back(bulk.megabytes_per_second);
  series.control_ms.push_back(percentile(bulk.control_microseconds, 0.99) / 1000);
  return ok();
}

}  // namespace

Result<Report> run_transport_suite(const SuiteOptions& options) {
  Report report{.suite = "transport"};
  GW_TRY(const auto peer, EchoPeer::start());
  GW_TRY(const auto load, TransportLoad::connect(peer.transport_at()));
  Series series;
  for (unsigned run = 0; run < options.runs; ++run) GW_TRY_VOID(measure_once(peer, *load, series));
  report.add("rtt_vs_raw_tls", percentile(series.ratio, 0.5), "ratio", "64 bytes there and back, over a bare Asio TLS echo; goal: <= 2");
  report.add("rtt_us", percentile(series.ours_us, 0.5), "us", "the same, a request between two processes; median");
  report.add("raw_tls_rtt_us", percentile(series.bare_us, 0.5), "us", "the same, bare");
  report.add("requests_per_s", largest(series.requests), "count", "64 bytes, 1000 open at once on one connection; goal: >= 300000");
  report.add("bulk_mb_per_s", largest(series.megabytes), "count", "one direction, requests of 1 MiB; goal: >= 400");
  report.add("control_p99_ms_under_bulk", percentile(series.control_ms, 0.5), "ms", "a 64-byte request meanwhile; goal: <= 5");
  return report;
}

}  // namespace gw::bench
