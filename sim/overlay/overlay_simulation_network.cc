// How messages and dials get from host to host.

#include <charconv>

#include "base/reached.h"
#include "overlay/overlay_simulation.h"

namespace gw::sim::overlay_simulation {

using std::chrono::seconds;

namespace {

constexpr Time kDialPatience = seconds(5);      // the transport's
constexpr Time kSilencePatience = seconds(10);  // until data that nobody acknowledges breaks a connection
constexpr std::size_t kMostWaiting = 16;        // messages for one dial
constexpr Time kFirstRetry = seconds(1);        // of a lost SYN; doubles

std::uint64_t pair_of(std::uint32_t from, std::uint32_t to) { return (std::uint64_t{from} << 32) | to; }

}  // namespace

std::optional<std::uint32_t> OverlaySimulation::host_at(const std::string& address) const {
  std::uint32_t number = 0;
  const auto end = address.find(':');
  const auto parsed = std::from_chars(address.data() + 1, address.data() + std::min(end, address.size()), number);
  if (parsed.ec != std::errc() || number >= hosts_.size()) return std::nullopt;
  return number;
}

// On a connection that is open.
Delivery OverlaySimulation::plan_delivery(Host& from, std::uint32_t to, Time now) const {
  Delivery delivery;
  if (chance(from.luck, loss_)) return delivery;
  const auto arrival = [&] { return now + internet_.one_way(from.index, to, from.luck) + hosts_[to].lag; };
  if (chance(from.luck, duplicate_)) delivery.duplicate_arrives = arrival();
  delivery.arrives = arrival();
  return delivery;
}

void OverlaySimulation::send(Host& host, Turn::QueuedMessage& queued) {
  GW_ASSERT(queued.to != host.index);
  PendingMessage pending{host.index, queued.to, queued.to_life, std::move(queued.bytes)};
  if (queued.is_posted) return post(std::move(pending), queued.delivery);
  if (!queued.address.empty()) return dial(host, queued.to, queued.address, std::move(pending));
  const std::uint32_t news = breaks_.put({queued.to, host.life});
  queue_.push({.at = next_window_, .host = host.index, .slot = news, .kind = Event::Kind::unreachable});
}

void OverlaySimulation::post(PendingMessage pending, const Delivery& delivery) {
  const std::uint32_t to = pending.to;
  const auto deliver = [&](Time when, PendingMessage copy) {
    queue_.push({.at = when, .host = to, .slot = pending_messages_.put(std::move(copy)), .kind = Event::Kind::deliver});
  };
  if (delivery.duplicate_arrives != wire::kNever) deliver(delivery.duplicate_arrives, pending);
  if (delivery.arrives != wire::kNever) deliver(delivery.arrives, std::move(pending));
}

void OverlaySimulation::on_deliver(std::uint32_t slot) {
  PendingMessage pending = pending_messages_.take(slot);
  Host& host = hosts_[pending.to];
  if (separated(hosts_[pending.from], host) || host.power == Host::Power::off) return find_broken_later(pending.from, pending.to);
  if (!host.up() || host.life != pending.to_life || !hosts_[pending.from].up()) return;
  note(pending.to, "message from", pending.from);
  await_turn(host, Turn::Kind::message, pending.from).text = std::move(pending.bytes);
}

void OverlaySimulation::dial(Host& host, std::uint32_t to, const std::string& address, std::optional<PendingMessage> pending) {
  const auto [under_way, fresh] = calls_under_way_.try_emplace(pair_of(host.index, to));
  if (!fresh) {
    Call& call = calls_.at(under_way->second);
    if (pending && call.pending_messages.size() < kMostWaiting) call.pending_messages.push_back(*std::move(pending));
    return;
  }
  // The address may be somebody else's: whoever is there answers, or nobody.
  const std::uint32_t there = host_at(address).value_or(to);
  under_way->second = calls_.put({host.index, to, host.life, there == to ? Answer::connected : Answer::none, now_, address, {}});
  if (pending) calls_.at(under_way->second).pending_messages.push_back(*std::move(pending));
  Time arrives = now_ + internet_.one_way(host.index, there, host.luck);
  for (Time retry = kFirstRetry; chance(host.luck, loss_); retry *= 2) arrives += retry;
  queue_.push({.at = std::min(arrives, now_ + kDialPatience), .host = there, .slot = under_way->second, .kind = Event::Kind::dial_arrives});
}

void OverlaySimulation::on_dial_arrives(std::uint32_t slot) {
  Call& call = calls_.at(slot);
  Host& there = hosts_[call.to];
  const Time patience_ends = call.began + kDialPatience;
  if (there.up() && there.paused(now_) && there.paused_until < patience_ends)
    return queue_.push(
        {.at = std::max(next_window_, there.paused_until), .host = call.to, .slot = slot, .kind = Event::Kind::dial_arrives});
  const bool heard = now_ < patience_ends && !separated(hosts_[call.from], there) && there.power != Host::Power::off && !there.paused(now_);
  if (!heard || there.firewall == Host::Firewall::silent)
    call.answer = Answer::none;
  else if (call.answer == Answer::connected && (!there.up() || there.firewall == Host::Firewall::refusing))
    call.answer = Answer::refused;
  const Time back = now_ + internet_.one_way(call.to, call.from, there.luck);
  const Time when = call.answer == Answer::none ? std::max(next_window_, patience_ends) : back;
  queue_.push({.at = when, .host = call.from, .slot = slot, .kind = Event::Kind::dial_over});
}

void OverlaySimulation::on_dial_over(std::uint32_t slot) {
  Call call = calls_.take(slot);
  calls_under_way_.erase(pair_of(call.from, call.to));
  Host& host = hosts_[call.from];
  Host& other = hosts_[call.to];
  if (!host.up() || host.life != call.from_life) return;
  note(call.from, "dialled", call.to);
  const bool already = links_.use(call.from, call.to, now_);
  const bool is_up = already || (call.answer == Answer::connected && other.up() && links_.add(call.from, call.to, now_));
  if (!is_up) {
    using gw::overlay::Failure;
    const Failure failure = call.answer == Answer::refused ? Failure::refused : Failure::no_answer;
    await_turn(host, Turn::Kind::unreachable, call.to).failure = failure;
    return;
  }
  if (!already) await_turn(other, Turn::Kind::connected, call.from);
  await_turn(host, Turn::Kind::connected, call.to).text = call.address;
  for (PendingMessage& pending : call.pending_messages) post(std::move(pending), plan_delivery(host, call.to, now_));
}

void OverlaySimulation::on_unreachable(Host& host, std::uint32_t slot) {
  const Break news = breaks_.take(slot);
  if (!host.up() || host.life != news.life) return;
  note(host.index, "cannot reach", news.other);
  await_turn(host, Turn::Kind::unreachable, news.other).failure = gw::overlay::Failure::no_answer;
}

void OverlaySimulation::find_broken_later(std::uint32_t at, std::uint32_t other) {
  if (!links_.open(at, other)) return;
  const std::uint32_t news = breaks_.put({other, hosts_[at].life});
  queue_.push({.at = now_ + kSilencePatience, .host = at, .slot = news, .kind = Event::Kind::broken});
}

void OverlaySimulation::on_broken(Host& host, std::uint32_t slot) {
  const Break news = breaks_.take(slot);
  const Host& other = hosts_[news.other];
  const bool mended = other.up() && !separated(host, other);
  if (!host.up() || host.life != news.life || mended || !links_.open(host.index, news.other)) return;
  GW_REACHED("sim: a connection was found broken");
  note(host.index, "broken", news.other);
  links_.remove(host.index, news.other);
  await_turn(host, Turn::Kind::reset, news.other);
}

}  // namespace gw::sim::overlay_simulation
