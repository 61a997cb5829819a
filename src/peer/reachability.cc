#include "peer/reachability.h"

#include <algorithm>
#include <charconv>

#include "base/reached.h"
#include "wire/messages/overlay_messages.h"

namespace gw::peer {
namespace {

constexpr Time kReview = std::chrono::seconds(1);

// 0: none.
std::uint16_t port_of(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::uint16_t port = 0;
  if (colon != std::string::npos) std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  return port;
}

bool is_numeric(const std::string& address) { return address.find_first_not_of("0123456789abcdefABCDEF:.[]") == std::string::npos; }

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address.starts_with("[::1]"); }

bool can_anchor(const Contact& contact) {
  return contact.reach == Reach::open && !contact.address.empty() && contact.address.size() <= wire::kMaxAnchorAddressBytes &&
         is_numeric(contact.address);
}

}  // namespace

Reachability::Reachability(Config config, ContactOf contact_of, Rng rng)
    : config_(std::move(config)),
      contact_of_(std::move(contact_of)),
      rng_(rng),
      port_(port_of(config_.address)),
      contact_{.address = config_.address, .reach = port_ == 0 ? Reach::outbound : Reach::unknown, .anchors = {}},
      reach_(contact_.reach),
      address_(config_.address),
      pause_(config_.retry_after) {}

// --- connections

void Reachability::on_connected(Time now, const PeerId& peer, Link link) {
  if (links_.size() >= config_.links && !links_.contains(peer)) return;
  const bool first = links_.empty();
  links_.try_emplace(peer, Linked{link, now}).first->second.link = link;
  if (link == Link::relayed && contact_of_(peer).reach == Reach::open) ++in_vain_;
  if (link == Link::dialled) in_vain_ = 0;
  if (link == Link::accepted && reach_ == Reach::unknown) reach_ = Reach::open;  // until dial-backs decide
  if (port_ != 0 && decide_at_ == job::kNever && (first || (last_asked_ < config_.ask && askable().size() > last_asked_)))
    check_at_ = std::min(check_at_, now + config_.soon);
  renew_contact(now);
}

void Reachability::on_disconnected(Time now, const PeerId& peer) {
  if (links_.erase(peer) > 0) renew_contact(now);
}

// Peers to ask for a dial-back: open ones first, since others may be in the same private network; among them the one asked longest
// ago first.
std::vector<PeerId> Reachability::askable() const {
  struct Candidate {
    bool closed;
    Time asked;
    Time since;
    PeerId peer;
    auto operator<=>(const Candidate&) const = default;
  };
  std::vector<Candidate> candidates;
  for (const auto& [peer, link] : links_)
    if (!is_relayed(link.link)) candidates.push_back({contact_of_(peer).reach != Reach::open, link.asked, link.since, peer});
  std::ranges::sort(candidates);
  std::vector<PeerId> peers;
  for (const Candidate& candidate : candidates) peers.push_back(candidate.peer);
  return peers;
}

// --- asking

void Reachability::begin_check(Time now, Actions& out) {
  check_at_ = job::kNever;
  std::vector<PeerId> peers = askable();
  peers.resize(std::min(peers.size(), config_.ask));
  if (peers.empty()) return;  // the next connection begins a check
  asked_.clear();
  last_asked_ = peers.size();
  for (const PeerId& peer : peers) {
    asked_[peer] = std::nullopt;
    links_.at(peer).asked = now;
    job::PeerMessage message;
    message.mutable_dial_back()->set_port(port_);
    out.send(peer, std::move(message));
  }
  decide_at_ = now + config_.patience;
}

void Reachability::on_answer(Time now, const PeerId& from, const job::PeerMessage::DialedBack& answer) {
  const auto found = asked_.find(from);
  if (found == asked_.end() || found->second || answer.address().empty()) return;  // not asked, or it does not know the address
  found->second = Answer{answer.address(), answer.reached()};
  const auto said = [&](bool reached) {
    return static_cast<std::size_t>(
        std::ranges::count_if(asked_, [&](const auto& one) { return one.second && one.second->reached == reached; }));
  };
  const std::size_t most = asked_.size() / 2 + 1;
  if (said(true) >= most || said(false) >= most || said(true) + said(false) == asked_.size()) decide(now);
}

void Reachability::decide(Time now) {
  std::size_t reached = 0, missed = 0;
  std::map<std::string, std::size_t> seen;
  for (const auto& [peer, answer] : asked_) {
    if (!answer) continue;
    ++(answer->reached ? reached : missed);
    if (answer->reached) ++seen[answer->address];
  }
  asked_.clear();
  verdict_ = {reached, missed};
  decide_at_ = job::kNever;
  if (reached == missed) {
    GW_REACHED("reachability: those asked do not agree");
    pause_ = config_.retry_after;
  } else if (reached > missed) {
    confirm_reach(Reach::open, best_of(seen));
    pause_ = config_.every;
    noes_ = 0;
  } else {
    // A failed dial-back may be the network's fault: one alone does not decide. The next check comes soon, then at growing intervals.
    pause_ = noes_ == 0 ? config_.retry_after : std::min(2 * pause_, config_.every);
    noes_ += missed;
    if (noes_ > 1) confirm_reach(Reach::outbound, config_.address);
  }
  const auto tenth = static_cast<std::uint64_t>(pause_.count() / 10);
  check_at_ = now + pause_ - Time(tenth) + Time(rng_.below(2 * tenth));
  if (last_asked_ < config_.ask && askable().size() > last_asked_) check_at_ = now + config_.retry_after;
  renew_contact(now);
}

// The address seen by most peers that have reached this one. Peers on the same machine see its loopback address, which is useless to
// others.
std::string Reachability::best_of(const std::map<std::string, std::size_t>& seen) const {
  std::string best = config_.address;
  std::size_t most = 0;
  if (seen.contains(best) || config_.kind == Address::given) return best;
  for (const auto& [address, count] : seen)
    if (count > most && !is_loopback(address)) {
      best = address;
      most = count;
    }
  return best;
}

void Reachability::confirm_reach(Reach reach, const std::string& address) {
  if (reach == Reach::outbound) GW_REACHED("reachability: nobody can dial this peer");
  confirmed_ = true;
  reach_ = reach;
  address_ = address;
}

// --- the published contact

std::vector<wire::Anchor> Reachability::choose_anchors() const {
  std::vector<std::pair<Time, PeerId>> oldest;
  for (const auto& [peer, link] : links_)
    if (!is_relayed(link.link) && can_anchor(contact_of_(peer))) oldest.emplace_back(link.since, peer);
  std::ranges::sort(oldest);
  oldest.resize(std::min(oldest.size(), config_.anchors));
  std::vector<wire::Anchor> anchors;
  for (const auto& [since, peer] : oldest) anchors.push_back({peer, contact_of_(peer).address});
  return anchors;
}

void Reachability::renew_contact(Time now) {
  const bool open = reach_ == Reach::open && confirmed_;
  Contact fresh{.address = address_, .reach = reach_, .anchors = open ? std::vector<wire::Anchor>() : choose_anchors()};
  if (reach_ == Reach::outbound && in_vain_ >= config_.in_vain) fresh.reach = Reach::relay_only;
  review_at_ = open || links_.empty() ? job::kNever : now + kReview;
  if (fresh == contact_) return;
  contact_ = std::move(fresh);
  changed_ = true;
}

std::optional<Contact> Reachability::take_change() {
  if (!std::exchange(changed_, false)) return std::nullopt;
  return contact_;
}

void Reachability::on_tick(Time now, Actions& out) {
  if (now >= check_at_) begin_check(now, out);
  if (now >= decide_at_) decide(now);
  if (now >= review_at_) renew_contact(now);
}

Time Reachability::next_deadline() const { return std::min({check_at_, decide_at_, review_at_}); }

// --- for others

void Reachability::on_dial_back(Time now, const PeerId& from, std::uint16_t port, Actions& out) {
  std::erase_if(errands_, [&](const auto& errand) { return errand.second <= now; });
  if (errands_.contains(from) || errands_.size() >= config_.links || errands_under_way_ >= config_.errands) return;  // the peer asks again
  errands_[from] = now + config_.errand_pause;
  ++errands_under_way_;
  out.add(job::DialBack{from, port});
}

void Reachability::on_dialled(const PeerId& peer, const job::PeerMessage::DialedBack& result, Actions& out) {
  --errands_under_way_;
  job::PeerMessage message;
  *message.mutable_dialed_back() = result;
  out.send(peer, std::move(message));
}

}  // namespace gw::peer
