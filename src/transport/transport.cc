#include "transport/transport.h"

#include <boost/asio/ip/v6_only.hpp>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "transport/connection/duplicate.h"

namespace gw::transport {
namespace {

constexpr std::string_view kArea = "transport";
constexpr std::chrono::milliseconds kAcceptPause{100};  // when the system has no descriptors left
// Room is made at most so often, since it means looking at all connections; and by those who have not said anything for so long.
constexpr std::chrono::milliseconds kRoomPause{10}, kUnused{250}, kSlowHandshake{2'000};

Kind kind_of(Cause cause) {
  switch (cause) {
    case Cause::untrusted:
    case Cause::broke_rules:
      return Kind::invalid;
    case Cause::silent:
      return Kind::timeout;
    case Cause::nobody:
      return Kind::not_found;
    default:
      return Kind::disconnected;
  }
}

std::string text(const Endpoint& endpoint) {
  std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port()) : fmt::format("{}:{}", address, endpoint.port());
}

Result<asio::ip::tcp::acceptor> open_acceptor(asio::io_context& io, const Endpoint& where) {
  asio::ip::tcp::acceptor acceptor(io);
  error_code error;
  acceptor.open(where.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error && where.address().is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);  // [::] is every address, also of IPv4
  if (!error) acceptor.bind(where, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  const Kind kind = error == asio::error::address_in_use ? Kind::overloaded : Kind::invalid;
  if (error) return fail(kind, "cannot listen on {}: {}", text(where), error.message());
  return acceptor;
}

ConnectionOrigin origin_of(const Connection& connection) { return {connection.remote(), connection.dialer(), connection.way()}; }

std::size_t index_of(Way way) { return static_cast<std::size_t>(way); }

void add(Traffic& sum, const Traffic& one) {
  sum.bytes_in += one.bytes_in;
  sum.bytes_out += one.bytes_out;
  sum.messages_in += one.messages_in;
  sum.messages_out += one.messages_out;
}

// A socket that listens for both kinds of addresses shows those of IPv4 as ::ffff:a.b.c.d; the rest of the program sees plain ones.
Endpoint plain(const Endpoint& remote) {
  const asio::ip::address& address = remote.address();
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return remote;
  return {asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()), remote.port()};
}

// Callers are never called back from inside their call.
asio::awaitable<void> tell(Transport::Connected done, Error why) {
  done(std::move(why));
  co_return;
}

}  // namespace

Result<std::unique_ptr<Transport>> Transport::make(asio::io_context& io, const Identity& identity, Receiver& receiver, Config config) {
  GW_TRY(auto tls, make_tls_context(identity.key().get(), identity.certificate().get()));
  return std::make_unique<Transport>(io, std::move(tls), identity.id(), receiver, config);
}

Transport::Transport(asio::io_context& io, asio::ssl::context tls, const PeerId& self, Receiver& receiver, Config config)
    : io_(io),
      tls_(std::move(tls)),
      self_(self),
      receiver_(receiver),
      config_(config),
      admission_(config.admission),
      relay_(config.relay, std::chrono::steady_clock::now()),
      relay_due_(io),
      acceptors_(io.get_executor()),
      servers_(io.get_executor()) {}

Transport::~Transport() { GW_ASSERT(connections_.empty()); }

Result<Endpoint> Transport::listen(const Endpoint& where) {
  GW_TRY(auto acceptor, open_acceptor(io_, where));
  error_code error;
  Endpoint bound = acceptor.local_endpoint(error);
  if (error) return fail(Kind::internal, "cannot tell where {} is bound: {}", text(where), error.message());
  acceptors_.spawn("accept", accept(std::move(acceptor)));
  return bound;
}

asio::awaitable<void> Transport::accept(asio::ip::tcp::acceptor acceptor) {
  asio::steady_timer pause(io_);
  while (!stopping_) {
    auto [error, socket] = co_await acceptor.async_accept(kAsTuple);
    if (stopping_) co_return;
    if (!error) {
      admit(std::move(socket));
      continue;
    }
    log::warn(kArea, "cannot accept a connection", kv("why", error.message()));
    pause.expires_after(kAcceptPause);
    co_await pause.async_wait(kAsTuple);
  }
}

void Transport::admit(asio::ip::tcp::socket socket) {
  error_code error;
  const Endpoint remote = plain(socket.remote_endpoint(error));
  if (error) return;  // it is gone already
  if (Status admitted = admission_.admit(remote.address().to_string()); !admitted) {
    log::warn(kArea, "connection refused", kv("from", text(remote)), kv("why", admitted.error().detail));
    return make_room();
  }
  start({.socket = std::move(socket), .remote = remote, .dialer = Dialer::them});
}

// Makes room for the next connection: closes the least recently used connection that another peer made, or the longest handshake. Therefore
// neither idle peers nor slow strangers can keep other peers out.
void Transport::make_room() {
  const bool only_handshakes = !admission_.full();
  if (only_handshakes && !admission_.full_of_handshakes()) return;  // one address has too many: let it wait
  const Time now = std::chrono::steady_clock::now();
  if (now < room_made_ + kRoomPause) return;
  room_made_ = now;
  Connection* oldest = nullptr;
  for (const auto& [number, connection] : connections_) {
    if (connection->dialer() == Dialer::us) continue;
    const bool may_go = connection->was_ready() ? connection->open() && !only_handshakes && !is_kept(*connection) : true;
    if (may_go && (oldest == nullptr || connection->used() < oldest->used())) oldest = connection.get();
  }
  if (oldest == nullptr || now - oldest->used() < (oldest->was_ready() ? kUnused : kSlowHandshake)) return;
  oldest->say_goodbye(Goodbye::idle, {Cause::idle, "it was not used, and others wait for room"});
}

void Transport::connect(const Endpoint& where, std::optional<PeerId> expected, Connected done) {
  std::size_t ours = connections_.size() - admission_.connections();
  if (stopping_ || ours >= config_.dials) {
    Error refused = fail(Kind::overloaded, "{} connections are open or being opened already: try again later", ours);
    return refuse(std::move(done), std::move(refused));
  }
  std::uint64_t number = start({.socket = Socket(io_), .remote = where, .dialer = Dialer::us, .expected = expected});
  dials_.emplace(number, std::move(done));
}

void Transport::refuse(Connected done, Error why) { servers_.spawn("refuse", tell(std::move(done), std::move(why))); }

std::uint64_t Transport::start(Connection::Start start) {
  std::uint64_t number = next_number_++;
  start.number = number;
  start.boot = config_.boot;
  Connection::Owner& owner = *this;
  connections_.emplace(number, std::make_unique<Connection>(std::move(start), tls_, config_.connection, owner));
  servers_.spawn("connection", serve(number));
  return number;
}

asio::awaitable<void> Transport::serve(std::uint64_t number) {
  co_await connections_.at(number)->run();
  release(*connections_.at(number));
  connections_.erase(number);
}

void Transport::release(const Connection& connection) {
  add(ended_.traffic[index_of(connection.way())], connection.traffic());
  if (connection.dialer() == Dialer::us) return;
  auto stage = connection.was_ready() ? Admission::Stage::authenticated : Admission::Stage::handshake;
  admission_.release(connection.remote().address().to_string(), stage);
}

Connection* Transport::to(const PeerId& peer) const {
  auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return nullptr;
  Connection* connection = connections_.at(found->second).get();
  return connection->open() ? connection : nullptr;
}

void Transport::on_ready(Connection& fresh) {
  if (fresh.dialer() == Dialer::them) admission_.on_authenticated(fresh.remote().address().to_string());
  const PeerId peer = *fresh.peer();
  if (peer == self_) return fresh.say_goodbye(Goodbye::duplicate, {Cause::untrusted, "it is this peer itself"});
  if (fresh.dialer() == Dialer::them && fresh.way() == Way::direct && calls_.erase(peer) > 0) fresh.answers_call();
  ++ended_.connections[index_of(fresh.way())];
  Connection* kept = to(peer);
  if (kept != nullptr &&
      !replaces({dialer_of(fresh), fresh.peer_boot(), fresh.way()}, {dialer_of(*kept), kept->peer_boot(), kept->way()})) {
    kept->doubt();  // unless both dialled at once, the peer has lost it
    fresh.say_goodbye(Goodbye::duplicate, {Cause::goodbye_ours, "there is a connection already"});
    return finish_dial(fresh, peer);
  }
  bool known = kept != nullptr ? kept->way() == fresh.way() : by_peer_.contains(peer);
  by_peer_[peer] = fresh.number();
  if (kept != nullptr) kept->say_goodbye(Goodbye::duplicate, {Cause::goodbye_ours, "a newer connection took its place"});
  set_loss_detection(fresh);
  log::info(kArea, "connected", kv("peer", peer.hex()), kv("way", name(fresh.way())), kv("at", text(fresh.remote())));
  if (!known) receiver_.on_connected(peer, origin_of(fresh));
  finish_dial(fresh, peer);
  if (by_peer_.size() > config_.kept) close_spare();
}

void Transport::close_spare() {
  const auto used = [this](const auto& entry) {
    const Connection& connection = *connections_.at(entry.second);
    return is_kept(connection) ? Time::max() : connection.used();
  };
  const auto oldest = std::ranges::min_element(by_peer_, {}, used);
  if (used(*oldest) > std::chrono::steady_clock::now() - config_.spare) return;
  connections_.at(oldest->second)->say_goodbye(Goodbye::idle, {Cause::idle, "it was not used, and there are many others"});
}

void Transport::on_message(Connection& connection, Message message) {
  const PeerId peer = *connection.peer();
  if (message.kind == FrameKind::request) {
    receiver_.on_request({peer, connection.number(), message.stream}, std::move(message.bytes));
  } else {
    receiver_.on_message(peer, message.lane, std::move(message.bytes));
  }
}

void Transport::on_ended(Connection& connection, const Ended& ended) {
  end_circuits(connection);
  bool faulty = ended.cause == Cause::broke_rules || ended.cause == Cause::untrusted || ended.cause == Cause::silent;
  std::string who = connection.peer() ? connection.peer()->hex() : "unknown";
  log::Level level = faulty ? log::Level::warn : log::Level::info;
  if (log::enabled(level))
    log::write(level, kArea, "connection ended", {kv("peer", who), kv("at", text(connection.remote())), kv("why", ended.sentence)});
  if (connection.peer()) {
    const PeerId peer = *connection.peer();
    auto found = by_peer_.find(peer);
    if (found != by_peer_.end() && found->second == connection.number()) {
      by_peer_.erase(found);
      call_rates_.erase(peer);
      receiver_.on_disconnected(peer, ended);
    }
    if (to(peer) != nullptr) return finish_dial(connection, peer);  // it has another one with us
  }
  finish_dial(connection, Error{kind_of(ended.cause), fmt::format("{}: {}", text(connection.remote()), ended.sentence)});
}

void Transport::finish_dial(const Connection& connection, Result<PeerId> result) {
  if (auto dial = dials_.extract(connection.number())) dial.mapped()(std::move(result));
}

Status Transport::send(const PeerId& peer, Lane lane, Bytes message) {
  Connection* connection = to(peer);
  if (connection == nullptr) return fail(Kind::disconnected, "there is no connection to peer {}", peer.hex());
  return connection->send(lane, std::move(message));
}

Status Transport::request(const PeerId& peer, Lane lane, Bytes message, std::chrono::milliseconds timeout, RequestTable::Done done) {
  Connection* connection = to(peer);
  if (connection == nullptr) return fail(Kind::disconnected, "there is no connection to peer {}", peer.hex());
  return connection->request(lane, std::move(message), std::chrono::steady_clock::now() + timeout, std::move(done));
}

Status Transport::answer(const RequestId& request, Lane lane, Result<Bytes> answer) {
  auto found = connections_.find(request.connection);
  if (found == connections_.end()) return fail(Kind::disconnected, "the connection of request {} is gone", request.stream);
  return found->second->answer(lane, request.stream, std::move(answer));
}

void Transport::disconnect(const PeerId& peer, std::string reason) {
  if (Connection* connection = to(peer)) connection->say_goodbye(Goodbye::closing, {Cause::goodbye_ours, std::move(reason)});
}

std::vector<Transport::Peer> Transport::peers() const {
  std::vector<Peer> all;
  for (const auto& [id, number] : by_peer_) {
    const Connection& connection = *connections_.at(number);
    all.push_back({id, origin_of(connection), connection.traffic()});
  }
  return all;
}

std::optional<ConnectionOrigin> Transport::connection_origin(const PeerId& peer) const {
  const Connection* connection = to(peer);
  return connection != nullptr ? std::optional(origin_of(*connection)) : std::nullopt;
}

Transport::Totals Transport::totals() const {
  Totals totals = ended_;
  for (const auto& [number, connection] : connections_) add(totals.traffic[index_of(connection->way())], connection->traffic());
  totals.relayed = relay_.counters();
  totals.circuits = relay_.circuits();
  return totals;
}

// --- anchors

void Transport::keep(std::set<PeerId> anchors) {
  anchors_ = std::move(anchors);
  for (const auto& [peer, number] : by_peer_) set_loss_detection(*connections_.at(number));
}

// Whether an idle connection stays open because messages must be able to arrive over it.
bool Transport::is_kept(const Connection& connection) const {
  if (connection.way() == Way::relayed || anchors_.contains(*connection.peer())) return true;
  const auto found = ends_.lower_bound({connection.number(), 0});
  return found != ends_.end() && found->first.connection == connection.number();
}

void Transport::set_loss_detection(Connection& connection) {
  connection.set_loss_detection(is_kept(connection) ? Liveness::LossDetection::fast : Liveness::LossDetection::normal);
}

asio::awaitable<void> Transport::stop() {
  stopping_ = true;
  acceptors_.stop();
  relay_due_.cancel();
  for (auto& [number, connection] : connections_) connection->say_goodbye(Goodbye::closing, {Cause::goodbye_ours, "this peer stops"});
  co_await acceptors_.wait();
  co_await servers_.wait();
}

}  // namespace gw::transport
