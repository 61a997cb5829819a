#pragma once
// Views as JSON: the gateway writes them, clients read them back. The names are those of docs/api/openapi.yaml.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "node/control.h"

namespace gw::gateway {

using Json = nlohmann::ordered_json;

Json to_json(const node::NodeView& view);
Json to_json(const node::StorageView& view);
Json to_json(const node::Share& share);
Json to_json(const node::BalanceView& view);
Json to_json(const std::vector<node::BalanceView>& views);
Json to_json(const node::ShareChange& change);  // only what is to be changed
Json to_json(const job::Capacity& capacity);
Json to_json(const node::UrlRequest& request);
Json to_json(const node::UrlPieces& pieces);
Json to_json(const node::PingView& view);
Json to_json(const node::PeerView& view);
Json to_json(const node::JobSummary& view);
Json to_json(const node::JobView& view);
Json to_json(const node::ThreadView& view);
Json to_json(const node::JobPeerView& view);
Json to_json(const node::JobEvent& event);
Json to_json(const job::TaskPage& page);
Json to_json(const node::HostedJobView& view);
Json to_json(const std::vector<node::PeerView>& views);
Json to_json(const std::vector<node::JobSummary>& views);
Json to_json(const std::vector<node::HostedJobView>& views);

// A single line of valid UTF-8, also if the texts contain invalid bytes.
std::string dump(const Json& json);

// The inverse. Kind::corrupt: the text is not what this version writes.
Result<node::NodeView> node_view(std::string_view text);
Result<node::Share> share_view(std::string_view text);
Result<std::vector<node::BalanceView>> balance_views(std::string_view text);
Result<node::UrlPieces> url_pieces(std::string_view text);
Result<node::UrlRequest> url_request(std::string_view text);    // Kind::invalid, as the next
Result<node::ShareChange> share_change(std::string_view text);  // Kind::invalid: what is wrong with the request
Result<node::PingView> ping_view(std::string_view text);
Result<std::vector<node::PeerView>> peer_views(std::string_view text);
Result<std::vector<node::JobSummary>> job_summaries(std::string_view text);
Result<node::JobView> job_view(std::string_view text);
Result<std::vector<node::HostedJobView>> hosted_views(std::string_view text);
Result<job::TaskPage> task_page(std::string_view text);
Result<node::JobEvent> job_event(std::string_view line);

std::string_view name(node::JobState state);
std::string_view name(node::HostedJobView::State state);
std::string_view name(node::Stream stream);
std::string_view name(node::PeerView::State state);
std::string_view name(Reach reach);
std::string_view name(node::ThreadView::State state);
std::string_view name(job::TaskFilter filter);
std::optional<job::TaskFilter> task_filter(std::string_view name);
std::string thread_text(job::ThreadId thread);

}  // namespace gw::gateway
