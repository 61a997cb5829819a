#include "gateway/web/web_gateway.h"

#include "base/log.h"
#include "gateway/web/web_address.h"
#include "node/discovery/name_resolver.h"

namespace gw::gateway {
namespace {

constexpr std::string_view kWebArea = "web";

Status listen_at(Tcp::acceptor& acceptor, const Tcp::endpoint& where) {
  error_code error;
  if (acceptor.is_open()) acceptor.close(error);
  acceptor.open(where.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(where, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return ok();
  return fail(Kind::invalid, "the dashboard cannot be served at {}: {}; choose another address with --web", node::text_of(where),
              error.message());
}

Session::Config with_headers(Session::Config config) {
  config.http.headers = WebAccess::security_headers();
  return config;
}

}  // namespace

Status check_web_address(const std::string& text) {
  if (text.empty()) return ok();
  GW_TRY(const node::Endpoint where, node::parse_endpoint(text));
  if (where.address().is_loopback()) return ok();
  return fail(
      Kind::invalid,
      "the dashboard is served to this machine only, because it speaks plain HTTP: use --web 127.0.0.1:{}, and from another machine "
      "'ssh -L {}:127.0.0.1:{} HOST'",
      where.port(), where.port(), where.port());
}

Result<std::unique_ptr<WebGateway>> WebGateway::open(asio::io_context& io, node::Control& control, node::JobTickets& tickets,
                                                     Config config) {
  GW_TRY_VOID(check_web_address(config.listen));
  Tcp::acceptor acceptor(io);
  if (config.listen.empty()) {
    Status listening = ok();
    for (std::uint16_t tried = 0; tried < kWebPortsTried; ++tried) {
      listening = listen_at(acceptor, {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(kWebPort + tried)});
      if (listening) break;
    }
    GW_TRY_VOID(listening);
  } else {
    GW_TRY(const node::Endpoint where, node::parse_endpoint(config.listen));
    GW_TRY_VOID(listen_at(acceptor, where));
  }
  error_code error;
  const Tcp::endpoint where = acceptor.local_endpoint(error);
  if (error) return fail(Kind::internal, "the address of the dashboard is not known: {}", error.message());
  std::unique_ptr<WebGateway> gateway(new WebGateway(io, control, tickets, std::move(config), where));
  gateway->session_server_.open(std::move(acceptor));
  log::info(kWebArea, "dashboard", kv("at", gateway->access_.address()), kv("command", "godwit web open"));
  return gateway;
}

WebGateway::WebGateway(asio::io_context& io, node::Control& control, node::JobTickets& tickets, Config config, const Tcp::endpoint& where)
    : config_(std::move(config)),
      port_(where.port()),
      access_(node::text_of(where), WebTokens::open(config_.tokens), config_.pages),
      session_server_(io, {.area = kWebArea,
                           .connections = config_.connections,
                           .make = [this, &control, &tickets,
                                    session = with_headers(config_.session)](Tcp::socket socket) -> Result<std::unique_ptr<Session>> {
                             return std::make_unique<Session>(std::move(socket), control, tickets, session, &access_,
                                                              Session::Entrance::web);
                           }}) {}

}  // namespace gw::gateway
