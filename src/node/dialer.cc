#include "node/dialer.h"

#include "base/log.h"

namespace gw::node {
namespace {

constexpr std::string_view kArea = "node";

}  // namespace

Dialer::Dialer(Config config, transport::Transport& transport, NameResolver& names, Owner& owner)
    : config_(config), transport_(transport), names_(names), owner_(owner), alive_(std::make_shared<bool>(true)) {}

Dialer::~Dialer() { *alive_ = false; }

void Dialer::send(const transport::PeerId& to, const std::string& address, Letter letter) {
  if (transport_.connected(to)) return hand_over(to, std::move(letter));
  const auto found = waiting_.find(to);
  if (found != waiting_.end()) return keep(found->second, std::move(letter));
  if (address.empty()) return;
  if (waiting_.size() >= config_.dials) return log::debug(kArea, "message dropped: too many peers are being dialled");
  keep(waiting_[to], std::move(letter));
  connect(address, to, [this, to, address](const Result<transport::PeerId>& there) { on_dialled(to, address, there); });
}

void Dialer::dial(const std::string& address) {
  if (addresses_.size() >= config_.dials || !addresses_.insert(address).second) return;
  connect(address, std::nullopt, [this, address](const Result<transport::PeerId>& peer) {
    addresses_.erase(address);
    if (!peer) return log::info(kArea, "cannot reach a peer", kv("at", address), kv("why", peer.error().detail));
    owner_.on_reached(*peer, address);
  });
}

// An address of numbers need not wait for the names of others.
void Dialer::connect(const std::string& address, std::optional<transport::PeerId> expected, transport::Transport::Connected done) {
  if (const auto endpoint = parse_endpoint(address)) return transport_.connect(*endpoint, expected, std::move(done));
  names_.resolve(address, [this, alive = alive_, expected, done = std::move(done)](const Result<Endpoint>& endpoint) {
    if (!*alive) return;
    if (!endpoint) return done(fail(Kind::timeout, "{}", endpoint.error().detail));  // whether somebody listens there is not known
    transport_.connect(*endpoint, expected, done);
  });
}

void Dialer::on_dialled(const transport::PeerId& peer, const std::string& address, const Result<transport::PeerId>& found) {
  Waiting waiting = std::move(waiting_.extract(peer).mapped());
  if (transport_.connected(peer)) {
    if (found) owner_.on_reached(peer, address);
    for (Letter& letter : waiting.letters) hand_over(peer, std::move(letter));
  } else if (!found && found.error().kind != Kind::overloaded) {
    log::debug(kArea, "cannot reach a peer", kv("peer", peer.hex()), kv("why", found.error().detail));
    owner_.on_unreachable(peer, found.error().kind == Kind::not_found ? Failure::refused : Failure::no_answer);
  }
}

void Dialer::on_connected(const transport::PeerId& peer) {
  const auto found = waiting_.find(peer);
  if (found == waiting_.end()) return;
  for (Letter& letter : std::exchange(found->second, {}).letters) hand_over(peer, std::move(letter));
}

// A message that does not arrive is repeated by whoever wants something, so a failure here is no news.
void Dialer::hand_over(const transport::PeerId& to, Letter letter) {
  if (const Status sent = transport_.send(to, letter.lane, std::move(letter.bytes)); !sent)
    log::debug(kArea, "message dropped", kv("peer", to.hex()), kv("why", sent.error().detail));
}

void Dialer::keep(Waiting& waiting, Letter letter) const {
  if (waiting.letters.size() >= config_.messages || letter.bytes.size() > config_.bytes - waiting.bytes)
    return log::debug(kArea, "message dropped: too many wait for this peer");
  waiting.bytes += letter.bytes.size();
  waiting.letters.push_back(std::move(letter));
}

}  // namespace gw::node
