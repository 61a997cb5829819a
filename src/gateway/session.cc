#include "gateway/session.h"

#include "base/metrics.h"
#include "gateway/view_json.h"
#include "httpd/error_answer.h"

namespace gw::gateway {
Session::Session(Local::socket socket, node::Control& control, const Config& config)
    : exchange_(std::move(socket), config.http),
      stream_(exchange_.stream()),
      control_(control),
      config_(config),
      wake_(std::make_shared<WakeSignal>(stream_.get_executor())) {}

void Session::stop() {
  wake_->stop();
  stream_.close();
}

asio::awaitable<void> Session::run() {
  while (co_await serve_one() == After::next_request && !wake_->stopped()) {
  }
  stream_.close();
}

asio::awaitable<Session::After> Session::serve_one() {
  std::optional<ParsedRequest> asked;
  const auto route = [&asked](const auto& head) -> std::variant<std::size_t, Answer> {
    auto parsed = parse_request(head.method_string(), head.target());
    if (parsed) return asked.emplace(*std::move(parsed)).max_body_bytes;
    Answer answer = refusal(parsed.error());
    if (parsed.error().kind == Kind::unsupported) answer.allow = methods_of(head.target());
    return answer;
  };
  std::optional<Request> request = co_await exchange_.read(route);
  if (!request) co_return After::close;
  co_return co_await serve(asked->call, std::move(*request));
}

asio::awaitable<Session::After> Session::serve(const Call& call, Request request) {
  metrics::count(metrics::Metric::requests);
  if (const auto* output = std::get_if<ReadOutput>(&call)) {
    co_await stream(*output);
    co_return After::close;
  }
  if (const auto* events = std::get_if<ReadEvents>(&call)) {
    co_await stream(*events);
    co_return After::close;
  }
  const After after = request.keep_alive() ? After::next_request : After::close;
  Answer answer = co_await perform(call, std::move(request.body()));
  co_return co_await send(std::move(answer), after);
}

Session::Answer Session::refusal(const Error& error) {
  metrics::count(metrics::Metric::requests_refused);
  return {.status = httpd::status_of(error.kind), .body = httpd::error_body(error)};
}

}  // namespace gw::gateway
