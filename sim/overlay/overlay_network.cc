#include "overlay/overlay_network.h"

#include "base/reached.h"

namespace gw::sim::overlay_simulation {

using std::chrono::seconds;

namespace {

constexpr Time kDialPatience = seconds(5);      // the transport's
constexpr Time kSilencePatience = seconds(10);  // until unacknowledged data breaks a connection
constexpr std::size_t kMostWaiting = 16;        // messages for one dial
constexpr Time kFirstRetry = seconds(1);        // of a lost SYN; doubles

std::uint64_t pair_of(std::uint32_t from, std::uint32_t to) { return (std::uint64_t{from} << 32) | to; }

}  // namespace

Delivery OverlayNetwork::plan_delivery(Host& from, std::uint32_t to, Time now) const {
  Delivery delivery;
  if (chance(from.luck, losses_.loss)) return delivery;
  const auto arrival = [&] { return now + internet_.one_way(from.index, to, from.luck) + environment_.population.hosts[to].lag; };
  if (chance(from.luck, losses_.duplicate)) delivery.duplicate_arrives = arrival();
  delivery.arrives = arrival();
  return delivery;
}

void OverlayNetwork::send(Host& host, Turn::QueuedMessage& queued) {
  GW_ASSERT(queued.to != host.index);
  PendingMessage pending{host.index, queued.to, queued.to_life, std::move(queued.bytes)};
  if (queued.is_posted) return post(std::move(pending), queued.delivery);
  if (!queued.address.empty()) return dial(host, queued.to, queued.address, std::move(pending));
  const std::uint32_t news = breaks_.put({queued.to, host.life});
  environment_.agenda.push({.at = environment_.agenda.next_window(), .host = host.index, .slot = news, .kind = Event::Kind::unreachable});
}

void OverlayNetwork::post(PendingMessage pending, const Delivery& delivery) {
  const std::uint32_t to = pending.to;
  const auto deliver = [&](Time when, PendingMessage copy) {
    environment_.agenda.push({.at = when, .host = to, .slot = pending_messages_.put(std::move(copy)), .kind = Event::Kind::deliver});
  };
  if (delivery.duplicate_arrives != wire::kNever) deliver(delivery.duplicate_arrives, pending);
  if (delivery.arrives != wire::kNever) deliver(delivery.arrives, std::move(pending));
}

void OverlayNetwork::on_deliver(std::uint32_t slot) {
  PendingMessage pending = pending_messages_.take(slot);
  Host& host = host_of(pending.to);
  if (separated(host_of(pending.from), host) || host.power == Host::Power::off) return find_broken_later(pending.from, pending.to);
  if (!host.up() || host.life != pending.to_life || !host_of(pending.from).up()) return;
  environment_.log.note(pending.to, "message from", pending.from);
  add_turn(host, Turn::Kind::message, pending.from).text = std::move(pending.bytes);
}

void OverlayNetwork::dial(Host& host, std::uint32_t to, const std::string& address, std::optional<PendingMessage> pending) {
  const auto [under_way, fresh] = calls_under_way_.try_emplace(pair_of(host.index, to));
  if (!fresh) {
    Call& call = calls_.at(under_way->second);
    if (pending && call.pending_messages.size() < kMostWaiting) call.pending_messages.push_back(*std::move(pending));
    return;
  }
  // The address may belong to another host now, which then answers.
  const std::uint32_t there = environment_.population.at_address(address).value_or(to);
  under_way->second = calls_.put({host.index, to, host.life, there == to ? Answer::connected : Answer::none, now(), address, {}});
  if (pending) calls_.at(under_way->second).pending_messages.push_back(*std::move(pending));
  Time arrives = now() + internet_.one_way(host.index, there, host.luck);
  for (Time retry = kFirstRetry; chance(host.luck, losses_.loss); retry *= 2) arrives += retry;
  environment_.agenda.push(
      {.at = std::min(arrives, now() + kDialPatience), .host = there, .slot = under_way->second, .kind = Event::Kind::dial_arrives});
}

void OverlayNetwork::on_dial_arrives(std::uint32_t slot) {
  Call& call = calls_.at(slot);
  Host& there = host_of(call.to);
  const Time patience_ends = call.began + kDialPatience;
  if (there.up() && there.paused(now()) && there.paused_until < patience_ends)
    return environment_.agenda.push({.at = std::max(environment_.agenda.next_window(), there.paused_until),
                                     .host = call.to,
                                     .slot = slot,
                                     .kind = Event::Kind::dial_arrives});
  const bool heard =
      now() < patience_ends && !separated(host_of(call.from), there) && there.power != Host::Power::off && !there.paused(now());
  if (!heard || there.firewall == Host::Firewall::silent)
    call.answer = Answer::none;
  else if (call.answer == Answer::connected && (!there.up() || there.firewall == Host::Firewall::refusing))
    call.answer = Answer::refused;
  const Time back = now() + internet_.one_way(call.to, call.from, there.luck);
  const Time when = call.answer == Answer::none ? std::max(environment_.agenda.next_window(), patience_ends) : back;
  environment_.agenda.push({.at = when, .host = call.from, .slot = slot, .kind = Event::Kind::dial_over});
}

void OverlayNetwork::on_dial_over(std::uint32_t slot) {
  Call call = calls_.take(slot);
  calls_under_way_.erase(pair_of(call.from, call.to));
  Host& host = host_of(call.from);
  Host& other = host_of(call.to);
  if (!host.up() || host.life != call.from_life) return;
  environment_.log.note(call.from, "dialled", call.to);
  const bool already = links_.use(call.from, call.to, now());
  const bool is_up = already || (call.answer == Answer::connected && other.up() && links_.add(call.from, call.to, now()));
  if (!is_up) {
    using gw::overlay::Failure;
    const Failure failure = call.answer == Answer::refused ? Failure::refused : Failure::no_answer;
    add_turn(host, Turn::Kind::unreachable, call.to).failure = failure;
    return;
  }
  if (!already) add_turn(other, Turn::Kind::connected, call.from);
  add_turn(host, Turn::Kind::connected, call.to).text = call.address;
  for (PendingMessage& pending : call.pending_messages) post(std::move(pending), plan_delivery(host, call.to, now()));
}

void OverlayNetwork::on_unreachable(Host& host, std::uint32_t slot) {
  const Break news = breaks_.take(slot);
  if (!host.up() || host.life != news.life) return;
  environment_.log.note(host.index, "cannot reach", news.other);
  add_turn(host, Turn::Kind::unreachable, news.other).failure = gw::overlay::Failure::no_answer;
}

void OverlayNetwork::find_broken_later(std::uint32_t at, std::uint32_t other) {
  if (!links_.open(at, other)) return;
  const std::uint32_t news = breaks_.put({other, host_of(at).life});
  environment_.agenda.push({.at = now() + kSilencePatience, .host = at, .slot = news, .kind = Event::Kind::broken});
}

void OverlayNetwork::on_broken(Host& host, std::uint32_t slot) {
  const Break news = breaks_.take(slot);
  const Host& other = host_of(news.other);
  const bool mended = other.up() && !separated(host, other);
  if (!host.up() || host.life != news.life || mended || !links_.open(host.index, news.other)) return;
  GW_REACHED("sim: a connection was found broken");
  environment_.log.note(host.index, "broken", news.other);
  links_.remove(host.index, news.other);
  add_turn(host, Turn::Kind::reset, news.other);
}

void OverlayNetwork::reset_connections(Host& host) {
  for (const std::uint32_t other : links_.remove_all(host.index)) {
    if (!host_of(other).up() || separated(host, host_of(other))) continue;
    // Report the failure directly: the connection is removed at both ends already, so on_broken would find nothing.
    const std::uint32_t news = breaks_.put({host.index, host_of(other).life});
    environment_.agenda.push(
        {.at = now() + internet_.one_way(host.index, other, host.luck), .host = other, .slot = news, .kind = Event::Kind::reset});
  }
}

void OverlayNetwork::on_reset(Host& host, std::uint32_t slot) {
  const Break news = breaks_.take(slot);
  if (!host.up() || host.life != news.life) return;
  environment_.log.note(host.index, "reset by", news.other);
  add_turn(host, Turn::Kind::reset, news.other);
}

void OverlayNetwork::handle(const Event& event) {
  switch (event.kind) {
    case Event::Kind::deliver:
      return on_deliver(event.slot);
    case Event::Kind::dial_arrives:
      return on_dial_arrives(event.slot);
    case Event::Kind::dial_over:
      return on_dial_over(event.slot);
    case Event::Kind::unreachable:
      return on_unreachable(host_of(event.host), event.slot);
    case Event::Kind::broken:
      return on_broken(host_of(event.host), event.slot);
    case Event::Kind::reset:
      return on_reset(host_of(event.host), event.slot);
    case Event::Kind::tick:
    case Event::Kind::happening:
      GW_ASSERT(false);
  }
}

void OverlayNetwork::fetch_early(const Event& later) const {
  if (later.kind == Event::Kind::deliver) fetch_lines(&pending_messages_.at(later.slot), sizeof(PendingMessage));
}

void OverlayNetwork::fetch_late(const Event& soon) const {
  if (soon.kind != Event::Kind::deliver) return;
  const std::string& bytes = pending_messages_.at(soon.slot).bytes;
  fetch_lines(bytes.data(), bytes.size());
}

}  // namespace gw::sim::overlay_simulation
