// How messages and dials get from host to host.

#include <charconv>

#include "base/reached.h"
#include "flock/flock.h"
#include "wire/overlay_messages.h"

namespace gw::sim::flock {

using gw::overlay::Output;
using gw::overlay::Overlay;
using std::chrono::seconds;

namespace {

constexpr Time kDialPatience = seconds(5);      // the transport's
constexpr Time kSilencePatience = seconds(10);  // until data that nobody acknowledges breaks a connection
constexpr std::size_t kMostWaiting = 16;        // messages for one dial
constexpr Time kFirstRetry = seconds(1);        // of a lost SYN; doubles

std::uint64_t pair_of(std::uint32_t from, std::uint32_t to) { return (std::uint64_t{from} << 32) | to; }

}  // namespace

void Flock::carry_out(Host& host, Output& out) {
  for (const gw::overlay::Dial& wanted : out.dials)
    if (const auto to = host_at(wanted.address); to && *to != host.index) dial(host, *to, wanted.address, {});
  for (gw::overlay::Send& wanted : out.sends) {
    if (host.liar == nullptr) {
      send(host, std::move(wanted));
      continue;
    }
    for (gw::overlay::Send& lie : host.liar->twist(std::move(wanted))) send(host, std::move(lie));
  }
  for (const gw::overlay::Event& event : out.events)
    if (const auto* located = std::get_if<gw::overlay::Located>(&event)) on_located(host, *located);
}

std::optional<std::uint32_t> Flock::host_at(const std::string& address) const {
  std::uint32_t number = 0;
  const auto end = address.find(':');
  const auto parsed = std::from_chars(address.data() + 1, address.data() + std::min(end, address.size()), number);
  if (parsed.ec != std::errc() || number >= hosts_.size()) return std::nullopt;
  return number;
}

void Flock::send(Host& host, gw::overlay::Send send) {
  std::string bytes = send.message.SerializeAsString();
  host.bytes_sent += bytes.size();
  ++host.messages_sent;
  const auto known = index_.find(send.to.hash);
  if (known == index_.end()) return;  // a liar's invention
  const std::uint32_t to = known->second;
  GW_ASSERT(to != host.index);
  const std::uint32_t slot = parcels_.put({host.index, to, hosts_[to].life, std::move(bytes)});
  if (links_.use(host.index, to, now_)) return post(slot);
  if (!send.contact.address.empty()) return dial(host, to, send.contact.address, {slot});
  parcels_.take(slot);
  const std::uint32_t news = breaks_.put({to, host.life});
  queue_.push({.at = now_, .host = host.index, .slot = news, .kind = Event::Kind::unreachable});
}

// Onto a connection that is open.
void Flock::post(std::uint32_t slot) {
  const auto [from, to] = std::pair(parcels_.at(slot).from, parcels_.at(slot).to);
  if (chance(net_rng_, loss_)) {
    parcels_.take(slot);
    return;
  }
  const auto arrive = [&](std::uint32_t copy) {
    const Time when = now_ + internet_.one_way(from, to, net_rng_) + hosts_[to].lag;
    queue_.push({.at = when, .host = to, .slot = copy, .kind = Event::Kind::deliver});
  };
  if (chance(net_rng_, duplicate_)) arrive(parcels_.put(Parcel(parcels_.at(slot))));
  arrive(slot);
}

void Flock::on_deliver(std::uint32_t slot) {
  const Parcel parcel = parcels_.take(slot);
  Host& host = hosts_[parcel.to];
  if (separated(hosts_[parcel.from], host) || host.power == Host::Power::off) return find_broken_later(parcel.from, parcel.to);
  if (!host.up() || host.life != parcel.to_life || !hosts_[parcel.from].up()) return;
  note(parcel.to, "message from", parcel.from);
  if (!received_.ParseFromString(parcel.bytes) || !wire::check(received_)) {
    if (hosts_[parcel.from].liar == nullptr) complain(Verdict::safety, "an honest peer sent a message that breaks the rules");
    return;
  }
  if (host.liar != nullptr) host.liar->overhear(received_);
  with_overlay(host, [&](Overlay& overlay, Time now, Output& out) { overlay.on_message(now, hosts_[parcel.from].id, received_, out); });
}

void Flock::dial(Host& host, std::uint32_t to, const std::string& address, std::vector<std::uint32_t> parcels) {
  const auto [under_way, fresh] = calls_under_way_.try_emplace(pair_of(host.index, to));
  if (!fresh) {
    Call& call = calls_.at(under_way->second);
    for (const std::uint32_t slot : parcels) {
      if (call.parcels.size() < kMostWaiting)
        call.parcels.push_back(slot);
      else
        parcels_.take(slot);
    }
    return;
  }
  // The address may be somebody else's: whoever is there answers, or nobody.
  const std::uint32_t there = host_at(address).value_or(to);
  under_way->second =
      calls_.put({host.index, to, host.life, there == to ? Answer::connected : Answer::none, now_, address, std::move(parcels)});
  Time arrives = now_ + internet_.one_way(host.index, there, net_rng_);
  for (Time retry = kFirstRetry; chance(net_rng_, loss_); retry *= 2) arrives += retry;
  queue_.push({.at = std::min(arrives, now_ + kDialPatience), .host = there, .slot = under_way->second, .kind = Event::Kind::dial_arrives});
}

void Flock::on_dial_arrives(std::uint32_t slot) {
  Call& call = calls_.at(slot);
  const Host& there = hosts_[call.to];
  const Time patience_ends = call.began + kDialPatience;
  if (there.up() && there.paused(now_) && there.paused_until < patience_ends)
    return queue_.push({.at = there.paused_until, .host = call.to, .slot = slot, .kind = Event::Kind::dial_arrives});
  const bool heard = now_ < patience_ends && !separated(hosts_[call.from], there) && there.power != Host::Power::off && !there.paused(now_);
  if (!heard || there.wall == Host::Wall::silent)
    call.answer = Answer::none;
  else if (call.answer == Answer::connected && (!there.up() || there.wall == Host::Wall::refusing))
    call.answer = Answer::refused;
  const Time back = now_ + internet_.one_way(call.to, call.from, net_rng_);
  const Time when = call.answer == Answer::none ? std::max(now_, patience_ends) : back;
  queue_.push({.at = when, .host = call.from, .slot = slot, .kind = Event::Kind::dial_over});
}

void Flock::on_dial_over(std::uint32_t slot) {
  const Call call = calls_.take(slot);
  calls_under_way_.erase(pair_of(call.from, call.to));
  Host& host = hosts_[call.from];
  Host& other = hosts_[call.to];
  if (!host.up() || host.life != call.from_life) {
    for (const std::uint32_t parcel : call.parcels) parcels_.take(parcel);
    return;
  }
  note(call.from, "dialled", call.to);
  const bool already = links_.use(call.from, call.to, now_);
  const bool is_up = already || (call.answer == Answer::connected && other.up() && links_.add(call.from, call.to, now_));
  if (!is_up) {
    for (const std::uint32_t parcel : call.parcels) parcels_.take(parcel);
    using gw::overlay::Failure;
    const Failure failure = call.answer == Answer::refused ? Failure::refused : Failure::no_answer;
    return with_overlay(host, [&](Overlay& overlay, Time now, Output& out) { overlay.on_unreachable(now, other.id, failure, out); });
  }
  if (!already) with_overlay(other, [&](Overlay& overlay, Time now, Output& out) { overlay.on_connected(now, host.id, "", out); });
  with_overlay(host, [&](Overlay& overlay, Time now, Output& out) { overlay.on_connected(now, other.id, call.address, out); });
  for (const std::uint32_t parcel : call.parcels) post(parcel);
}

void Flock::on_unreachable(Host& host, std::uint32_t slot) {
  const Break news = breaks_.take(slot);
  if (!host.up() || host.life != news.life) return;
  note(host.index, "cannot reach", news.other);
  with_overlay(host, [&](Overlay& overlay, Time now, Output& out) {
    overlay.on_unreachable(now, hosts_[news.other].id, gw::overlay::Failure::no_answer, out);
  });
}

void Flock::find_broken_later(std::uint32_t at, std::uint32_t other) {
  if (!links_.open(at, other)) return;
  const std::uint32_t news = breaks_.put({other, hosts_[at].life});
  queue_.push({.at = now_ + kSilencePatience, .host = at, .slot = news, .kind = Event::Kind::broken});
}

void Flock::on_broken(Host& host, std::uint32_t slot) {
  const Break news = breaks_.take(slot);
  const Host& other = hosts_[news.other];
  const bool mended = other.up() && !separated(host, other);
  if (!host.up() || host.life != news.life || mended || !links_.open(host.index, news.other)) return;
  GW_REACHED("sim: a connection was found broken");
  note(host.index, "broken", news.other);
  links_.remove(host.index, news.other);
  with_overlay(host, [&](Overlay& overlay, Time now, Output& out) { overlay.on_reset(now, other.id, out); });
}

}  // namespace gw::sim::flock
