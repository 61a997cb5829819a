#include "gateway/session.h"

#include "base/metrics.h"
#include "gateway/routes.h"

namespace gw::gateway {

Session::Session(Local::socket socket, node::Control& control, const Config& config)
    : wake_(std::make_shared<WakeSignal>(socket.get_executor())),
      exchange_(std::move(socket), config.http),
      api_(control, wake_, config.answer),
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

asio::awaitable<httpd::After> Session::serve_one() {
  const auto route = [](const auto& head) -> std::variant<std::size_t, httpd::Answer> {
    const auto found = match(routes(), head.method_string(), head.target());
    if (found) return found->route->max_body_bytes;
    httpd::Answer answer = Api::refusal(found.error());
    if (found.error().kind == Kind::unsupported) answer.allow = methods_of(routes(), head.target());
    return answer;
  };
  auto request = co_await exchange_.read(route);
  if (!request) co_return httpd::After::close;
  metrics::count(metrics::Metric::requests);
  const std::string target(request->target());
  const auto found = match(routes(), request->method_string(), target);
  GW_ASSERT(found);  // `route` has let it through
  const Handler& handler = handler_of(*found->route);
  if (const auto* stream = std::get_if<StreamHandler>(&handler)) {
    co_await (stream_.**stream)(*found);
    co_return httpd::After::close;
  }
  const httpd::After after = request->keep_alive() ? httpd::After::next_request : httpd::After::close;
  httpd::Answer answer = co_await (api_.*std::get<ApiHandler>(handler))(*found, std::move(request->body()));
  co_return co_await exchange_.send(std::move(answer), after);
}

}  // namespace gw::gateway
