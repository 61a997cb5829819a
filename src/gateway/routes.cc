#include "gateway/routes.h"

#include <array>

#include "base/check.h"
#include "wire/messages/worker_frames.h"

namespace gw::gateway {
namespace {

constexpr std::size_t kMaxBlobBytes = 1u << 20;
constexpr std::size_t kMaxShareBytes = 256u << 10;
constexpr std::size_t kMaxOrderBytes = 256u << 10;                                                      // 4096 serials and as many peers
constexpr std::size_t kMaxSubmissionBytes = wire::kMaxManifestBytes + wire::kMaxRowInputs * 32 + 1024;  // and a charter

struct Entry {
  Route route;
  Handler handler;
  Scope scope = Scope::manage;
};
constexpr Scope kWatch = Scope::watch;

const std::array kEntries = std::to_array<Entry>({
    {{"GET", "/v1/node"}, &Api::show_node, kWatch},
    {{"GET", "/v1/peers"}, &Api::list_peers, kWatch},
    {{"POST", "/v1/peers/{id}/ping"}, &Api::ping_peer},
    {{"PUT", "/v1/share", "", kMaxShareBytes}, &Api::change_share},
    {{"GET", "/v1/metrics"}, &Api::show_metrics, kWatch},
    {{"GET", "/v1/hosted"}, &Api::list_hosted, kWatch},
    {{"GET", "/v1/balance"}, &Api::show_balance, kWatch},
    {{"GET", "/v1/jobs"}, &Api::list_jobs, kWatch},
    {{"POST", "/v1/jobs", "", kMaxSubmissionBytes}, &Api::submit_job},
    {{"GET", "/v1/jobs/{id}", "brief"}, &Api::show_job, kWatch},
    {{"DELETE", "/v1/jobs/{id}"}, &Api::forget_job},
    {{"POST", "/v1/jobs/{id}/cancel"}, &Api::cancel_job},
    {{"POST", "/v1/jobs/{id}/suspend"}, &Api::suspend_job},
    {{"GET", "/v1/jobs/{id}/ticket"}, &Api::make_ticket},
    {{"POST", "/v1/jobs/{id}/resume"}, &Api::resume_job},
    {{"GET", "/v1/jobs/{id}/image"}, &Api::show_image},
    {{"POST", "/v1/jobs/{id}/input", "piece", wire::kMaxInputPiece}, &Api::supply_input},
    {{"GET", "/v1/jobs/{id}/output", "stream from follow"}, &JobStream::send_output, kWatch},
    {{"GET", "/v1/jobs/{id}/frames", "order stream tasks from follow"}, &JobStream::send_frames, kWatch},
    {{"GET", "/v1/jobs/{id}/tasks", "filter from limit"}, &Api::list_tasks, kWatch},
    {{"GET", "/v1/jobs/{id}/manifest"}, &Api::show_manifest},
    {{"GET", "/v1/jobs/{id}/events", "from"}, &JobStream::send_events, kWatch},
    {{"GET", "/v1/blobs/{sha256}"}, &Api::load_blob},
    {{"PUT", "/v1/blobs/{sha256}", "", kMaxBlobBytes}, &Api::store_blob},
    {{"POST", "/v1/fetch", "", kMaxOrderBytes}, &Api::fetch},
    {{"GET", "/v1/grids"}, &Api::list_grids},
    {{"POST", "/v1/grids", "", kMaxOrderBytes}, &Api::add_grid},
    {{"DELETE", "/v1/grids/{id}"}, &Api::leave_grid},
    {{"POST", "/v1/grids/{id}/invitations", "", kMaxOrderBytes}, &Api::invite},
    {{"POST", "/v1/grids/{id}/revocations", "", kMaxOrderBytes}, &Api::revoke},
    {{"GET", "/v1/web"}, &Api::show_web, kWatch},
    {{"GET", "/v1/web/tokens"}, &Api::list_web_tokens},
    {{"POST", "/v1/web/tokens", "scope"}, &Api::add_web_token},
    {{"DELETE", "/v1/web/tokens/{id}"}, &Api::revoke_web_token},
    {{"POST", "/v1/stop"}, &Api::stop_node},
});

}  // namespace

std::span<const Route> routes() {
  static const auto table = [] {
    std::array<Route, kEntries.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kEntries[i].route;
    return all;
  }();
  return table;
}

namespace {

const Entry& entry_of(const Route& route) {
  const std::ptrdiff_t index = &route - routes().data();
  GW_ASSERT(index >= 0 && static_cast<std::size_t>(index) < kEntries.size());
  return kEntries[static_cast<std::size_t>(index)];
}

}  // namespace

const Handler& handler_of(const Route& route) { return entry_of(route).handler; }
Scope scope_of(const Route& route) { return entry_of(route).scope; }

}  // namespace gw::gateway
