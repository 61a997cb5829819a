#include "node/fetch/url_fetcher.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <memory>
#include <optional>

#include "node/fetch/public_address.h"
#include "os/files/io.h"
#include "os/files/unique_fd.h"

namespace gw::node {
namespace {

namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kUrlScheme = "https://";
constexpr std::size_t kMaxUrl = 2048;

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

int milliseconds_until(Clock::time_point deadline) {
  return static_cast<int>(
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count()));
}

Status wait_for(int fd, short events, Clock::time_point deadline) {
  pollfd entry{fd, events, 0};
  if (::poll(&entry, 1, milliseconds_until(deadline)) > 0) return ok();
  return fail(Kind::timeout, "the server does not answer in time");
}

boost::asio::ip::address internet_address(const sockaddr* address) {
  using namespace boost::asio::ip;
  if (address->sa_family == AF_INET) return address_v4(ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr));
  address_v6::bytes_type bytes;
  std::ranges::copy_n(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr.s6_addr, 16, bytes.begin());
  return address_v6(bytes);
}

// Resolves the name, and connects to the first address that is allowed and answers.
Result<os::UniqueFd> connect_to(const Url& url, bool private_addresses, Clock::time_point deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &list); error != 0)
    return fail(Kind::not_found, "the name '{}' cannot be resolved: {}", url.host, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  Error last = fail(Kind::not_found, "the name '{}' has no address", url.host);
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    const auto address = internet_address(entry->ai_addr);
    if (!private_addresses && !is_public(address)) {
      last = fail(Kind::invalid, "'{}' is {}, which is not an address of the public internet: 'godwit up --fetch-private on' allows it",
                  url.host, address.to_string());
      continue;
    }
    os::UniqueFd fd(::socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return fail(Kind::internal, "no socket can be made: {}", os::reason(errno));
    if (::connect(fd.get(), entry->ai_addr, entry->ai_addrlen) != 0 && errno != EINPROGRESS) {
      last = fail(Kind::disconnected, "'{}' cannot be reached: {}", url.host, os::reason(errno));
      continue;
    }
    GW_TRY_VOID(wait_for(fd.get(), POLLOUT, deadline));
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0) return fd;
    last = fail(Kind::disconnected, "'{}' cannot be reached: {}", url.host, os::reason(error));
  }
  return last;
}

// One TLS connection.
class TlsStream {
 public:
  static Result<TlsStream> open(const Url& url, os::UniqueFd fd, Clock::time_point deadline) {
    std::unique_ptr<SSL_CTX, FreeSsl> context(SSL_CTX_new(TLS_client_method()));
    if (!context || SSL_CTX_set_default_verify_paths(context.get()) != 1) return fail(Kind::internal, "TLS cannot be set up");
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    std::unique_ptr<SSL, FreeSsl> ssl(SSL_new(context.get()));
    if (!ssl || SSL_set_fd(ssl.get(), fd.get()) != 1) return fail(Kind::internal, "TLS cannot be set up");
    // An address has to be in the certificate as one; a name is also sent, for servers of several names.
    in6_addr ignored{};
    const bool numeric = ::inet_pton(AF_INET, url.host.c_str(), &ignored) == 1 || ::inet_pton(AF_INET6, url.host.c_str(), &ignored) == 1;
    const bool named = numeric
                           ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), url.host.c_str()) == 1
                           : SSL_set1_host(ssl.get(), url.host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl.get(), url.host.c_str()) == 1;
    if (!named) return fail(Kind::invalid, "'{}' cannot be the name of a server", url.host);
    TlsStream stream(std::move(fd), std::move(ssl), deadline);
    for (;;) {
      ERR_clear_error();
      const int done = SSL_connect(stream.ssl_.get());
      if (done == 1) return stream;
      if (const Status waited = stream.wait(done); !waited) {
        const long verdict = SSL_get_verify_result(stream.ssl_.get());
        if (verdict != X509_V_OK)
          return fail(Kind::invalid, "the certificate of '{}' is not valid: {}", url.host, X509_verify_cert_error_string(verdict));
        return waited.error();
      }
    }
  }

  Status write(std::string_view bytes) {
    while (!bytes.empty()) {
      ERR_clear_error();
      const int done = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
      if (done > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(done));
      } else {
        GW_TRY_VOID(wait(done));
      }
    }
    return ok();
  }
  // 0: the end.
  Result<std::size_t> read(std::span<char> buffer) {
    for (;;) {
      ERR_clear_error();
      const int done = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
      if (done > 0) return static_cast<std::size_t>(done);
      if (SSL_get_error(ssl_.get(), done) == SSL_ERROR_ZERO_RETURN) return std::size_t{0};
      GW_TRY_VOID(wait(done));
    }
  }

 private:
  TlsStream(os::UniqueFd fd, std::unique_ptr<SSL, FreeSsl> ssl, Clock::time_point deadline)
      : fd_(std::move(fd)), ssl_(std::move(ssl)), deadline_(deadline) {}

  Status wait(int result) {
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        return wait_for(fd_.get(), POLLIN, deadline_);
      case SSL_ERROR_WANT_WRITE:
        return wait_for(fd_.get(), POLLOUT, deadline_);
      default:
        return fail(Kind::disconnected, "the server closed the connection before its answer was complete");
    }
  }

  os::UniqueFd fd_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  Clock::time_point deadline_;
};

using Response = http::response<http::string_body>;

// `most`: of the body.
Result<Response> exchange(TlsStream& stream, const std::string& request, std::size_t most, std::size_t max_header) {
  GW_TRY_VOID(stream.write(request));
  http::response_parser<http::string_body> parser;
  parser.eager(true);
  parser.body_limit(most);
  parser.header_limit(static_cast<std::uint32_t>(max_header));
  std::string pending;
  std::vector<char> piece(64u << 10);
  boost::system::error_code error;
  while (!parser.is_done()) {
    GW_TRY(const std::size_t got, stream.read(piece));
    if (got == 0) {
      parser.put_eof(error);
      if (error || !parser.is_done()) return fail(Kind::disconnected, "the server closed the connection before its answer was complete");
      break;
    }
    pending.append(piece.data(), got);
    const std::size_t used = parser.put(boost::asio::buffer(pending), error);
    pending.erase(0, used);
    if (error == http::error::need_more) error = {};
    if (error == http::error::body_limit)
      return fail(Kind::unsupported, "the server sends the whole file instead of a part of it: download it, and give it as a file");
    if (error) return fail(Kind::corrupt, "the answer of the server is malformed: {}", error.message());
  }
  return parser.release();
}

// The total of "bytes 0-99/1234".
std::optional<std::uint64_t> total_of(std::string_view range, std::uint64_t offset) {
  constexpr std::string_view kUnit = "bytes ";
  if (!range.starts_with(kUnit)) return std::nullopt;
  range.remove_prefix(kUnit.size());
  std::uint64_t first = 0, total = 0;
  const auto dash = std::from_chars(range.data(), range.data() + range.size(), first);
  const std::size_t slash = range.find('/');
  if (dash.ec != std::errc() || first != offset || slash == std::string_view::npos) return std::nullopt;
  const auto end = std::from_chars(range.data() + slash + 1, range.data() + range.size(), total);
  if (end.ec != std::errc() || end.ptr != range.data() + range.size()) return std::nullopt;
  return total;
}

std::string header_text(boost::beast::string_view text) { return std::string(text.data(), text.size()); }

}  // namespace

Result<Url> parse_url(const std::string& text) {
  const auto wrong = [&](std::string_view why) { return fail(Kind::invalid, "'{}' cannot be fetched: {}", text, why); };
  if (!text.starts_with(kUrlScheme)) return wrong("a URL begins with https://");
  if (text.size() > kMaxUrl) return wrong("it is longer than 2048 bytes");
  if (std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c >= 0x7f; }))
    return wrong("it has characters that must be written as %XX");
  std::string_view rest = std::string_view(text).substr(kUrlScheme.size());
  rest = rest.substr(0, rest.find('#'));
  const std::size_t slash = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, slash);
  Url url{.host = {}, .target = std::string(rest.substr(slash))};
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  if (authority.find('@') != std::string_view::npos) return wrong("a URL with a user is not supported");
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return wrong("an address in brackets has an end");
    url.host = std::string(authority.substr(1, end - 1));
    port = authority.substr(end + 1);
  } else {
    url.host = std::string(authority.substr(0, authority.find(':')));
    port = authority.substr(url.host.size());
  }
  if (url.host.empty()) return wrong("it names no server");
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), url.port);
    if (port.front() != ':' || error != std::errc() || end != port.data() + port.size() || url.port == 0)
      return wrong("a port is a number from 1 to 65535");
  }
  return url;
}

Result<UrlRange> UrlFetcher::fetch(const std::string& text, std::uint64_t offset, std::size_t length, const std::string& version) const {
  const auto deadline = Clock::now() + config_.patience;
  std::string at = text;
  for (std::size_t hop = 0; hop <= config_.redirects; ++hop) {
    GW_TRY(const Url url, parse_url(at));
    GW_TRY(os::UniqueFd fd, connect_to(url, config_.private_addresses, deadline));
    GW_TRY(TlsStream stream, TlsStream::open(url, std::move(fd), deadline));
    const bool ipv6 = url.host.find(':') != std::string::npos;
    std::string request =
        fmt::format("GET {} HTTP/1.1\r\nHost: {}{}{}{}\r\nUser-Agent: godwit\r\nAccept-Encoding: identity\r\n", url.target, ipv6 ? "[" : "",
                    url.host, ipv6 ? "]" : "", url.port == 443 ? "" : fmt::format(":{}", url.port));
    request += fmt::format("Range: bytes={}-{}\r\n", offset, offset + length - 1);
    if (!version.empty()) request += fmt::format("If-Range: {}\r\n", version);
    request += "Connection: close\r\n\r\n";
    GW_TRY(const Response response, exchange(stream, request, length, config_.max_header));
    const unsigned status = response.result_int();
    if (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) {
      const std::string location = header_text(response[http::field::location]);
      // A redirect within the same server may leave out its name.
      at = location.starts_with('/') && !location.starts_with("//")
               ? fmt::format("{}{}{}{}:{}{}", kUrlScheme, ipv6 ? "[" : "", url.host, ipv6 ? "]" : "", url.port, location)
               : location;
      continue;
    }
    UrlRange range{.bytes = response.body(), .total = response.body().size(), .version = header_text(response[http::field::etag])};
    if (range.version.starts_with("W/") || range.version.size() > 256) range.version.clear();  // a weak one says little about bytes
    if (status == 200 && offset == 0 && version.empty()) return range;
    if (status == 200) return fail(Kind::corrupt, "{}: the file has changed while it was fetched: try again", text);
    if (status == 416 && offset == 0) return UrlRange{};  // an empty file has no range
    if (status == 404 || status == 410) return fail(Kind::not_found, "{}: the server has no such file ({})", text, status);
    if (status != 206) return fail(Kind::invalid, "{}: the server answers {} {}", text, status, header_text(response.reason()));
    const auto total = total_of(header_text(response[http::field::content_range]), offset);
    if (!total) return fail(Kind::corrupt, "{}: the server sends another part of the file than was asked for", text);
    if (*total > config_.max_file) return fail(Kind::invalid, "{}: the file has {} bytes; the limit is {}", text, *total, config_.max_file);
    if (range.bytes.size() != std::min<std::uint64_t>(length, *total - std::min(*total, offset)))
      return fail(Kind::corrupt, "{}: the server sends {} bytes of a part of {}", text, range.bytes.size(), length);
    if (!version.empty() && range.version != version)
      return fail(Kind::corrupt, "{}: the file has changed while it was fetched: try again", text);
    range.total = *total;
    return range;
  }
  return fail(Kind::invalid, "{}: more than {} redirects", text, config_.redirects);
}

}  // namespace gw::node
