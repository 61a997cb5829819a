#include "tracker/inquiry.h"

#include <fmt/core.h>

#include "httpd/beast.h"
#include "httpd/error_answer.h"
#include "tracker/tracker_json.h"

namespace gw::tracker {
namespace {

namespace asio = httpd::asio;
namespace beast = httpd::beast;
namespace http = httpd::http;
using httpd::kAsTuple;

constexpr std::string_view kScheme = "http://";
constexpr std::size_t kPieceBytes = 16u << 10;

Error broken(const httpd::error_code& error) {
  const bool late = error == beast::error::timeout;
  return fail(late ? Kind::timeout : Kind::disconnected, "the tracker {}",
              late ? "does not answer" : "closed the connection: " + error.message());
}

Result<std::string> body_of(const std::string& text) {
  http::response_parser<http::string_body> parser;
  parser.eager(true);
  parser.body_limit(kMaxListBytes);
  httpd::error_code error;
  std::size_t used = 0;
  while (!error && !parser.is_done() && used < text.size()) used += parser.put(asio::buffer(text.data() + used, text.size() - used), error);
  if (!parser.got_some()) return fail(Kind::corrupt, "the tracker closed the connection without an answer");
  if (!error && !parser.is_done()) parser.put_eof(error);
  if (error || !parser.is_done()) return fail(Kind::corrupt, "the tracker's answer is malformed: {}", error.message());
  if (parser.get().result_int() >= 300) return httpd::error_of(parser.get().result_int(), parser.get().body());
  return std::move(parser.get().body());
}

// The tracker closes after its answer, so that everything up to the end is it.
asio::awaitable<Result<std::string>> ask(Where where, std::string request) {
  beast::basic_stream<httpd::Tcp> stream(co_await asio::this_coro::executor);
  stream.expires_after(kInquiryPatience);
  auto [refused] = co_await stream.async_connect(where.endpoint, kAsTuple);
  if (refused) co_return fail(Kind::disconnected, "no tracker answers at {}: {}", where.host, refused.message());
  auto [failed, sent] = co_await asio::async_write(stream, asio::buffer(request), kAsTuple);
  if (failed) co_return broken(failed);
  std::string text, piece(kPieceBytes, '\0');
  for (;;) {
    auto [error, got] = co_await stream.async_read_some(asio::buffer(piece), kAsTuple);
    text.append(piece, 0, got);
    if (text.size() > kMaxListBytes) co_return fail(Kind::corrupt, "the tracker sends more than {} bytes", kMaxListBytes);
    if (error == asio::error::eof) break;
    if (error) co_return broken(error);
  }
  co_return body_of(text);
}

}  // namespace

Result<std::string> parse_tracker_url(const std::string& url) {
  std::string_view rest(url);
  if (!rest.starts_with(kScheme)) return fail(Kind::invalid, "'{}' is no tracker: one is written http://HOST:PORT", url);
  rest.remove_prefix(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.empty() || rest.find('/') != std::string_view::npos || rest.find(':') == std::string_view::npos)
    return fail(Kind::invalid, "'{}' is no tracker: one is written http://HOST:PORT", url);
  return std::string(rest);
}

asio::awaitable<Status> announce(Where where, wire::pb::Announcement announcement) {
  const std::string body = announcement_text(announcement);
  std::string request = fmt::format(
      "POST /v1/announce HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      where.host, body.size(), body);
  const Result<std::string> answer = co_await ask(std::move(where), std::move(request));
  co_return answer ? ok() : Status(answer.error());
}

asio::awaitable<Result<std::vector<wire::pb::Descriptor>>> list_peers(Where where, overlay::GridId grid) {
  std::string request =
      fmt::format("GET /v1/peers?grid={}&n=32 HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", grid.hash.hex(), where.host);
  const Result<std::string> answer = co_await ask(std::move(where), std::move(request));
  if (!answer) co_return answer.error();
  co_return parse_list(*answer);
}

}  // namespace gw::tracker
