#include "gateway/session.h"

#include "base/metrics.h"
#include "gateway/routes.h"

namespace gw::gateway {
namespace {

// Empty if it is missing or ambiguous.
std::string_view only(const http::fields& head, http::field field) { return head.count(field) == 1 ? std::string_view(head[field]) : ""; }

RequestHead head_of(const http::request_header<>& head) {
  const auto site = head.find("Sec-Fetch-Site");
  return {.method = head.method_string(),
          .target = head.target(),
          .host = only(head, http::field::host),
          .origin = head.count(http::field::origin) > 1 ? "several" : only(head, http::field::origin),
          .fetch_site = site == head.end() ? std::string_view() : std::string_view(site->value()),
          .authorization = only(head, http::field::authorization),
          .accept_encoding = only(head, http::field::accept_encoding),
          .if_none_match = only(head, http::field::if_none_match)};
}

}  // namespace

Session::Session(AnyStream::socket socket, node::Control& control, const Config& config, WebAccess* web, Entrance entrance)
    : wake_(std::make_shared<WakeSignal>(socket.get_executor())),
      exchange_(std::move(socket), config.http),
      web_(web),
      entrance_(entrance),
      api_(control, wake_, config.answer, web),
      stream_(exchange_, control, wake_, config.stream) {}

void Session::stop() {
  wake_->stop();
  exchange_.stream().close();
}

asio::awaitable<void> Session::run() {
  while (co_await serve_one() == httpd::After::next_request && !wake_->stopped()) {
  }
  exchange_.stream().close();
}

std::variant<std::size_t, httpd::Answer> Session::admit(const Request::header_type& head, Scope& granted) {
  const RequestHead known = head_of(head);
  if (entrance_ == Entrance::web) {
    if (auto refusal = web_->refuse_sender(known)) return *std::move(refusal);
    if (!WebAccess::is_api(known.target)) return std::size_t{0};
  }
  const auto found = match(routes(), known.method, known.target);
  if (!found) {
    httpd::Answer answer = Api::refusal(found.error());
    if (found.error().kind == Kind::unsupported) answer.allow = methods_of(routes(), known.target);
    return answer;
  }
  if (entrance_ == Entrance::web) {
    auto admitted = web_->admit(known, scope_of(*found->route), Api::now());
    if (auto* refusal = std::get_if<httpd::Answer>(&admitted)) return std::move(*refusal);
    granted = std::get<Scope>(admitted);
  }
  return found->route->max_body_bytes;
}

asio::awaitable<httpd::After> Session::serve_one() {
  Scope granted = Scope::manage;
  auto request = co_await exchange_.read([&](const auto& head) { return admit(head, granted); });
  if (!request) co_return httpd::After::close;
  metrics::count(metrics::Metric::requests);
  const httpd::After after = request->keep_alive() ? httpd::After::next_request : httpd::After::close;
  const std::string target(request->target());
  if (entrance_ == Entrance::web && !WebAccess::is_api(target)) co_return co_await exchange_.send(web_->page(head_of(*request)), after);
  auto found = match(routes(), request->method_string(), target);
  GW_ASSERT(found);  // admit() has let it through
  found->granted = granted;
  const Handler& handler = handler_of(*found->route);
  if (const auto* stream = std::get_if<StreamHandler>(&handler)) {
    co_await (stream_.**stream)(*found);
    co_return httpd::After::close;
  }
  httpd::Answer answer = co_await (api_.*std::get<ApiHandler>(handler))(*found, std::move(request->body()));
  co_return co_await exchange_.send(std::move(answer), after);
}

}  // namespace gw::gateway
