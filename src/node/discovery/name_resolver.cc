#include "node/discovery/name_resolver.h"

#include <netdb.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <charconv>
#include <cstring>

namespace gw::node {
namespace {

Result<Endpoint> ask_system(const HostPort& where) {
  const addrinfo hints{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(where.host.c_str(), nullptr, &hints, &found);
  if (code != 0) return fail(Kind::not_found, "{} is not known: {}", where.host, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, ::freeaddrinfo);
  Endpoint endpoint;
  if (list->ai_addrlen > endpoint.capacity()) return fail(Kind::internal, "{} has an address that is too long", where.host);
  std::memcpy(endpoint.data(), list->ai_addr, list->ai_addrlen);
  endpoint.resize(list->ai_addrlen);
  endpoint.port(where.port);
  return endpoint;
}

}  // namespace

Result<HostPort> parse_host_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto wrong = [&] { return fail(Kind::invalid, "'{}' is no address: write HOST:PORT, such as 192.0.2.1:7400", text); };
  if (colon == std::string::npos || colon == 0) return wrong();
  std::string host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string::npos) return wrong();  // an IPv6 address whose port cannot be told from it
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return wrong();
  return HostPort{std::move(host), port};
}

Result<Endpoint> parse_endpoint(const std::string& text) {
  GW_TRY(const HostPort where, parse_host_port(text));
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(where.host, error);
  if (error) return fail(Kind::invalid, "'{}' is no address of a machine: write it in numbers, such as 192.0.2.1", where.host);
  return Endpoint(address, where.port);
}

std::string text_of(const Endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port()) : fmt::format("{}:{}", address, endpoint.port());
}

NameResolver::NameResolver(boost::asio::io_context& io)
    : io_(io), open_(std::make_shared<std::atomic<bool>>(true)), thread_({.name = "gw-names", .waiting = kMaxWaiting}) {}

NameResolver::~NameResolver() { *open_ = false; }

void NameResolver::resolve(const std::string& address, Done done) {
  const auto answer = [&io = io_](Done done, Result<Endpoint> result) {
    boost::asio::post(io, [done = std::move(done), result = std::move(result)] { done(result); });
  };
  const auto where = parse_host_port(address);
  if (!where) return answer(std::move(done), where.error());
  if (auto endpoint = parse_endpoint(address)) return answer(std::move(done), *endpoint);
  const bool taken = thread_.try_add([answer, where = *where, done, open = open_] {
    if (*open) answer(done, ask_system(where));
  });
  if (!taken) answer(std::move(done), fail(Kind::overloaded, "too many names wait to be looked up"));
}

}  // namespace gw::node
