#include "gateway/session.h"

#include "base/log.h"
#include "gateway/error_answer.h"
#include "gateway/view_json.h"

namespace gw::gateway {
namespace {

constexpr unsigned kHttp11 = 11;

template <class Body>
void set_common(http::response<Body>& response, bool keep_alive) {
  response.set(http::field::server, "godwit");
  response.keep_alive(keep_alive);
}

}  // namespace

Session::Session(Local::socket socket, node::Control& control, const Config& config)
    : stream_(std::move(socket)), control_(control), config_(config), wake_(std::make_shared<Wake>(stream_.get_executor())) {}

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
  http::request_parser<http::string_body> parser;
  parser.header_limit(config_.header_bytes);
  parser.body_limit(boost::none);  // until it is known what is asked for
  stream_.expires_after(config_.idle);
  auto [error, bytes] = co_await http::async_read_header(stream_, buffer_, parser, kAsTuple);
  if (error) co_return co_await refuse(error);
  const auto& head = parser.get();
  if (head.version() != kHttp11)
    co_return co_await send({505, error_body(fail(Kind::unsupported, "only HTTP/1.1 is spoken here"))}, After::close);

  const Result<Asked> asked = parse_request(head.method_string(), head.target());
  if (!asked) {
    Answer answer = refusal(asked.error());
    if (asked.error().kind == Kind::unsupported) answer.allow = methods_of(head.target());
    co_return co_await send(std::move(answer), After::close);  // there may be a body nobody has read
  }
  const std::size_t limit = asked->max_body_bytes;
  if (parser.content_length().value_or(0) > limit)
    co_return co_await send({413, error_body(fail(Kind::invalid, "the body is longer than {} bytes", limit))}, After::close);
  parser.body_limit(limit);
  if (!co_await read_body(parser, limit)) co_return After::close;
  co_return co_await serve(asked->call, parser.release());
}

asio::awaitable<bool> Session::read_body(http::request_parser<http::string_body>& parser, std::size_t limit) {
  if (beast::iequals(parser.get()[http::field::expect], "100-continue")) {
    http::response<http::empty_body> go_on(http::status::continue_, kHttp11);
    stream_.expires_after(config_.send);
    auto [error, bytes] = co_await http::async_write(stream_, go_on, kAsTuple);
    if (error) co_return false;
  }
  stream_.expires_after(config_.receive);
  auto [error, bytes] = co_await http::async_read(stream_, buffer_, parser, kAsTuple);
  if (!error) co_return true;
  if (error == http::error::body_limit) {
    co_await send({413, error_body(fail(Kind::invalid, "the body is longer than {} bytes", limit))}, After::close);
  } else {
    co_await refuse(error);
  }
  co_return false;
}

asio::awaitable<Session::After> Session::serve(const Call& call, Request request) {
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

Session::Answer Session::refusal(const Error& error) { return {.status = status_of(error.kind), .body = error_body(error)}; }

// Of what could not be read as a request. Who is silent or gone is told nothing.
asio::awaitable<Session::After> Session::refuse(error_code error) {
  if (error == http::error::header_limit)
    co_return co_await send({431, error_body(fail(Kind::invalid, "the head of the request is longer than {} bytes", config_.header_bytes))},
                            After::close);
  const bool nonsense = error.category() == make_error_code(http::error::bad_method).category() && error != http::error::end_of_stream &&
                        error != http::error::partial_message;
  if (nonsense) co_return co_await send(refusal(fail(Kind::invalid, "this is no HTTP request: {}", error.message())), After::close);
  co_return After::close;
}

asio::awaitable<Session::After> Session::send(Answer answer, After after) {
  http::response<http::string_body> response(static_cast<http::status>(answer.status), kHttp11);
  set_common(response, after == After::next_request);
  response.set(http::field::content_type, "application/json");
  if (!answer.allow.empty()) response.set(http::field::allow, answer.allow);
  response.body() = std::move(answer.body);
  response.prepare_payload();
  stream_.expires_after(config_.send);
  auto [error, bytes] = co_await http::async_write(stream_, response, kAsTuple);
  co_return error ? After::close : after;
}

}  // namespace gw::gateway
