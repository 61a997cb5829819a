#include "gateway/api.h"

#include "base/metrics.h"
#include "gateway/grid_json.h"
#include "gateway/view_json.h"
#include "httpd/error_answer.h"

namespace gw::gateway {
namespace {

constexpr const char* kBinary = "application/octet-stream";

Error web_is_off() {
  return fail(Kind::not_found, "the dashboard is not served: restart the daemon with 'godwit down' and 'godwit up --web'");
}

Json to_json(const WebTokens::Token& token) {
  return {{"id", token.id.hex()},
          {"scope", name(token.scope)},
          {"created_at", token.created_at.time_since_epoch().count()},
          {"used_at", token.used_at.time_since_epoch().count()}};
}

std::string line(const Json& json) { return dump(json) + "\n"; }

}  // namespace

Api::Answer Api::refusal(const Error& error) {
  metrics::count(metrics::Metric::requests_refused);
  return {.status = httpd::status_of(error.kind), .body = httpd::error_body(error)};
}

// --- the node and its peers

asio::awaitable<Api::Answer> Api::show_node(const Match&, std::string) { co_return Answer{200, line(to_json(control_.node()))}; }

asio::awaitable<Api::Answer> Api::list_peers(const Match&, std::string) { co_return Answer{200, line(to_json(control_.peers()))}; }

asio::awaitable<Api::Answer> Api::ping_peer(const Match& match, std::string) {
  const auto pong =
      co_await answer_of<node::PingView>(wake_, patience_, [&](auto done) { control_.ping(job::PeerId{match.name}, std::move(done)); });
  co_return pong ? Answer{200, line(to_json(*pong))} : refusal(pong.error());
}

asio::awaitable<Api::Answer> Api::change_share(const Match&, std::string body) {
  const auto change = share_change(body);
  if (!change) co_return refusal(change.error());
  const auto share = co_await answer_of<node::Share>(wake_, patience_, [&](auto done) { control_.share(*change, std::move(done)); });
  co_return share ? Answer{200, line(to_json(*share))} : refusal(share.error());
}

asio::awaitable<Api::Answer> Api::show_metrics(const Match&, std::string) {
  co_return Answer{.status = 200, .body = control_.metrics(), .type = "text/plain; version=0.0.4"};
}

asio::awaitable<Api::Answer> Api::stop_node(const Match&, std::string) {
  control_.stop();
  co_return Answer{202, line({{"stopping", true}})};
}

// --- the dashboard

WebTokens::Time Api::now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

asio::awaitable<Api::Answer> Api::show_web(const Match& match, std::string) {
  co_return Answer{200, line({{"address", web_ == nullptr ? "" : web_->address()}, {"scope", name(match.granted)}})};
}

asio::awaitable<Api::Answer> Api::list_web_tokens(const Match&, std::string) {
  if (web_ == nullptr) co_return refusal(web_is_off());
  Json tokens = Json::array();
  for (const WebTokens::Token& token : web_->tokens().list(now())) tokens.push_back(to_json(token));
  co_return Answer{200, line({{"tokens", std::move(tokens)}})};
}

asio::awaitable<Api::Answer> Api::add_web_token(const Match& match, std::string) {
  if (web_ == nullptr) co_return refusal(web_is_off());
  const auto asked = match.query.find("scope");
  const auto scope = asked == match.query.end() ? Scope::watch : scope_named(asked->second);
  if (!scope) co_return refusal(fail(Kind::invalid, "scope={} is neither watch nor manage", asked->second));
  const auto token = web_->tokens().issue(*scope, now());
  if (!token) co_return refusal(token.error());
  co_return Answer{201, line({{"id", WebTokens::id_of(*token).hex()}, {"scope", name(*scope)}, {"link", web_->link(*token)}})};
}

asio::awaitable<Api::Answer> Api::revoke_web_token(const Match& match, std::string) {
  if (web_ == nullptr) co_return refusal(web_is_off());
  const Status revoked = web_->tokens().revoke(match.name);
  co_return revoked ? Answer{200, line({{"id", match.name.hex()}})} : refusal(revoked.error());
}

// --- jobs

asio::awaitable<Api::Answer> Api::list_jobs(const Match&, std::string) { co_return Answer{200, line(to_json(control_.jobs()))}; }

asio::awaitable<Api::Answer> Api::show_balance(const Match&, std::string) { co_return Answer{200, line(to_json(control_.balance()))}; }
asio::awaitable<Api::Answer> Api::list_hosted(const Match&, std::string) { co_return Answer{200, line(to_json(control_.hosted()))}; }

asio::awaitable<Api::Answer> Api::show_job(const Match& match, std::string) {
  const auto brief = flag(match, "brief");
  if (!brief) co_return refusal(brief.error());
  auto view =
      co_await answer_of<node::JobView>(wake_, patience_, [&](auto done) { control_.job(job::JobId{match.name}, std::move(done)); });
  if (view && *brief) view->threads.clear();
  co_return view ? Answer{200, line(to_json(*view))} : refusal(view.error());
}

asio::awaitable<Api::Answer> Api::make_ticket(const Match& match, std::string) {
  const auto ticket = tickets_.make(job::JobId{match.name});
  co_return ticket ? Answer{200, line({{"id", match.name.hex()}, {"ticket", wire::text_of(*ticket)}})} : refusal(ticket.error());
}

asio::awaitable<Api::Answer> Api::list_tasks(const Match& match, std::string) {
  const auto query = task_query(match);
  if (!query) co_return refusal(query.error());
  const auto page = co_await answer_of<job::TaskPage>(wake_, patience_,
                                                      [&](auto done) { control_.tasks(job::JobId{match.name}, *query, std::move(done)); });
  co_return page ? Answer{200, line(to_json(*page))} : refusal(page.error());
}

asio::awaitable<Api::Answer> Api::show_manifest(const Match& match, std::string) {
  auto bytes =
      co_await answer_of<std::string>(wake_, patience_, [&](auto done) { control_.manifest(job::JobId{match.name}, std::move(done)); });
  co_return bytes ? Answer{.status = 200, .body = *std::move(bytes), .type = kBinary} : refusal(bytes.error());
}

asio::awaitable<Api::Answer> Api::submit_job(const Match&, std::string body) {
  wire::pb::JobSubmission submission;
  if (!submission.ParseFromString(body)) co_return refusal(fail(Kind::invalid, "the body is not a JobSubmission (src/wire/peer.proto)"));
  const Result<job::JobId> id =
      co_await answer_of<job::JobId>(wake_, patience_, [&](auto done) { control_.submit(submission, std::move(done)); });
  co_return id ? Answer{201, line({{"id", id->hash.hex()}})} : refusal(id.error());
}

asio::awaitable<Api::Answer> Api::cancel_job(const Match& match, std::string) {
  const job::JobId id{match.name};
  const Status cancelled = co_await answer_of<void>(wake_, patience_, [&](auto done) { control_.cancel(id, std::move(done)); });
  co_return cancelled ? Answer{200, line({{"id", id.hash.hex()}})} : refusal(cancelled.error());
}

asio::awaitable<Api::Answer> Api::suspend_job(const Match& match, std::string) {
  const job::JobId id{match.name};
  const Status suspended = co_await answer_of<void>(wake_, patience_, [&](auto done) { control_.suspend(id, std::move(done)); });
  co_return suspended ? Answer{200, line({{"id", id.hash.hex()}})} : refusal(suspended.error());
}

asio::awaitable<Api::Answer> Api::resume_job(const Match& match, std::string) {
  const job::JobId id{match.name};
  const Status resumed = co_await answer_of<void>(wake_, patience_, [&](auto done) { control_.resume(id, std::move(done)); });
  co_return resumed ? Answer{200, line({{"id", id.hash.hex()}})} : refusal(resumed.error());
}

asio::awaitable<Api::Answer> Api::show_image(const Match& match, std::string) {
  const Result<wire::pb::JobImage> image = control_.image(job::JobId{match.name});
  co_return image ? Answer{.status = 200, .body = image->SerializeAsString(), .type = kBinary} : refusal(image.error());
}

asio::awaitable<Api::Answer> Api::load_blob(const Match& match, std::string) {
  auto bytes = co_await answer_of<std::string>(wake_, patience_, [&](auto done) { control_.load_blob(match.name, std::move(done)); });
  co_return bytes ? Answer{.status = 200, .body = *std::move(bytes), .type = kBinary} : refusal(bytes.error());
}

asio::awaitable<Api::Answer> Api::forget_job(const Match& match, std::string) {
  const job::JobId id{match.name};
  const Status forgotten = co_await answer_of<void>(wake_, patience_, [&](auto done) { control_.forget(id, std::move(done)); });
  co_return forgotten ? Answer{200, line({{"id", id.hash.hex()}})} : refusal(forgotten.error());
}

asio::awaitable<Api::Answer> Api::supply_input(const Match& match, std::string body) {
  const job::JobId id{match.name};
  const auto piece = number(match, "piece");
  if (!piece) co_return refusal(piece.error());
  const Status stored =
      co_await answer_of<void>(wake_, patience_, [&](auto done) { control_.supply_input(id, *piece, std::move(body), std::move(done)); });
  co_return stored ? Answer{200, line({{"id", id.hash.hex()}})} : refusal(stored.error());
}

asio::awaitable<Api::Answer> Api::store_blob(const Match& match, std::string body) {
  const Hash256 hash = match.name;
  const Status stored =
      co_await answer_of<void>(wake_, patience_, [&](auto done) { control_.store_blob(hash, std::move(body), std::move(done)); });
  co_return stored ? Answer{201, line({{"sha256", hash.hex()}})} : refusal(stored.error());
}

asio::awaitable<Api::Answer> Api::fetch(const Match&, std::string body) {
  auto request = url_request(body);
  if (!request) co_return refusal(request.error());
  const auto pieces =
      co_await answer_of<node::UrlPieces>(wake_, patience_, [&](auto done) { control_.fetch(*std::move(request), std::move(done)); });
  co_return pieces ? Answer{200, line(to_json(*pieces))} : refusal(pieces.error());
}

// --- grids

asio::awaitable<Api::Answer> Api::list_grids(const Match&, std::string) { co_return Answer{200, line(to_json(control_.grids()))}; }

// `key` names the result in the answer.
asio::awaitable<Api::Answer> Api::change_grids(Result<node::GridOrder> order, unsigned status, const char* key) {
  if (!order) co_return refusal(order.error());
  const auto done = co_await answer_of<std::string>(wake_, patience_,
                                                    [&](auto answered) { control_.change_grids(*std::move(order), std::move(answered)); });
  co_return done ? Answer{status, line({{key, *done}})} : refusal(done.error());
}

asio::awaitable<Api::Answer> Api::add_grid(const Match&, std::string body) { return change_grids(add_order(body), 201, "id"); }

asio::awaitable<Api::Answer> Api::leave_grid(const Match& match, std::string) {
  return change_grids(node::GridOrder(node::LeaveGrid{wire::GridId{match.name}}), 200, "id");
}

asio::awaitable<Api::Answer> Api::invite(const Match& match, std::string body) {
  return change_grids(invite_order(wire::GridId{match.name}, body), 201, "invitation");
}

asio::awaitable<Api::Answer> Api::revoke(const Match& match, std::string body) {
  return change_grids(revoke_order(wire::GridId{match.name}, body), 200, "id");
}

}  // namespace gw::gateway
