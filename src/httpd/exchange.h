#pragma once
// The server's side of one HTTP connection.

#include <chrono>
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "httpd/answer.h"
#include "httpd/beast.h"

namespace gw::httpd {

inline constexpr unsigned kHttp11 = 11;

// Reads requests and sends answers. No byte of a body is read before the route has given its limit. A client that is silent, slow or sends
// something else than HTTP gets an error answer where possible, and its connection ends.
//
// Belongs to one coroutine at a time. Limits: Config, and the limit that the route returns for a body.
template <class Protocol>
class Exchange {
 public:
  using Request = http::request<http::string_body>;
  struct Config {
    std::uint32_t header_bytes = 8u << 10;
    std::chrono::milliseconds idle = std::chrono::seconds(60);     // until the head of the next request has arrived
    std::chrono::milliseconds receive = std::chrono::seconds(30);  // for its body
    std::chrono::milliseconds send = std::chrono::seconds(30);     // for the client to take one piece
    std::string (*error_body)(const Error&) = nullptr;             // how an error is written
    std::string headers = {};                                      // of every answer, each line with its end
  };

  Exchange(typename Protocol::socket socket, const Config& config) : stream_(std::move(socket)), config_(config) {}

  beast::basic_stream<Protocol>& stream() { return stream_; }
  const std::string& headers() const { return config_.headers; }

  // Since when the client owes us a request; nothing while a request is answered.
  std::optional<std::chrono::steady_clock::time_point> waiting_since() const { return waiting_since_; }

  // `route` gets the head and returns the limit of the body in bytes, or the answer that refuses the request. Nothing: the connection has
  // ended, and an error answer was sent if that was possible.
  template <class Route>
  asio::awaitable<std::optional<Request>> read(Route route) {
    waiting_since_ = std::chrono::steady_clock::now();
    std::optional<Request> request = co_await read_request(std::move(route));
    waiting_since_.reset();
    co_return request;
  }

  asio::awaitable<After> send(Answer answer, After after) {
    const std::string text = text_of(answer, after, config_.headers);
    stream_.expires_after(config_.send);
    auto [error, bytes] = co_await asio::async_write(stream_, asio::buffer(text), kAsTuple);
    co_return error ? After::close : after;
  }

 private:
  static Error too_long(std::size_t limit) { return fail(Kind::invalid, "the body is longer than {} bytes", limit); }

  template <class Route>
  asio::awaitable<std::optional<Request>> read_request(Route route) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(config_.header_bytes);
    parser.body_limit(boost::none);  // until the route is known
    stream_.expires_after(config_.idle);
    auto [error, bytes] = co_await http::async_read_header(stream_, buffer_, parser, kAsTuple);
    if (error) co_return co_await refuse(error);
    if (parser.get().version() != kHttp11) co_return co_await give_up(505, fail(Kind::unsupported, "only HTTP/1.1 is supported"));
    std::variant<std::size_t, Answer> allowed = route(parser.get());
    if (auto* refusal = std::get_if<Answer>(&allowed)) {
      co_await send(std::move(*refusal), After::close);  // the body has not been read
      co_return std::nullopt;
    }
    const std::size_t limit = std::get<std::size_t>(allowed);
    if (parser.content_length().value_or(0) > limit) co_return co_await give_up(413, too_long(limit));
    parser.body_limit(limit);
    if (!co_await read_body(parser, limit)) co_return std::nullopt;
    co_return parser.release();
  }

  asio::awaitable<std::optional<Request>> give_up(unsigned status, Error why) {
    co_await send({.status = status, .body = config_.error_body(why)}, After::close);
    co_return std::nullopt;
  }

  // Answers bytes that are no request. A client that was silent or has closed the connection gets no answer.
  asio::awaitable<std::optional<Request>> refuse(error_code error) {
    if (error == http::error::header_limit)
      co_return co_await give_up(431, fail(Kind::invalid, "the head of the request is longer than {} bytes", config_.header_bytes));
    const bool nonsense = error.category() == make_error_code(http::error::bad_method).category() && error != http::error::end_of_stream &&
                          error != http::error::partial_message;
    if (nonsense) co_return co_await give_up(400, fail(Kind::invalid, "this is not an HTTP request: {}", error.message()));
    co_return std::nullopt;
  }

  asio::awaitable<bool> read_body(http::request_parser<http::string_body>& parser, std::size_t limit) {
    if (beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
      stream_.expires_after(config_.send);
      auto [error, bytes] = co_await asio::async_write(stream_, asio::buffer(kGoOn), kAsTuple);
      if (error) co_return false;
    }
    stream_.expires_after(config_.receive);
    auto [error, bytes] = co_await http::async_read(stream_, buffer_, parser, kAsTuple);
    if (!error) co_return true;
    if (error == http::error::body_limit) {
      co_await give_up(413, too_long(limit));
    } else {
      co_await refuse(error);
    }
    co_return false;
  }

  beast::basic_stream<Protocol> stream_;
  const Config config_;
  beast::flat_buffer buffer_;
  std::optional<std::chrono::steady_clock::time_point> waiting_since_;
};

}  // namespace gw::httpd
