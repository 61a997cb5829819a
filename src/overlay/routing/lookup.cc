#include "overlay/routing/lookup.h"

#include <algorithm>

#include "base/reached.h"

namespace gw::overlay {

namespace {

Hash256 salted(const Hash256& key, std::uint32_t salt) {
  if (salt == 0) return key;
  Bytes text(key.bytes.begin(), key.bytes.end());
  text.push_back(static_cast<std::uint8_t>(salt));
  return sha256(text);
}

}  // namespace

Lookup::Lookup(const Config& config, const Descriptor& self, const Signer& signer, const Ring& ring, const Contacts& contacts, Rng rng)
    : config_(config),
      self_(self),
      signer_(signer),
      rng_(rng),
      rate_limit_(config.others),
      router_(config.router, self, ring, contacts, Rng(rng_.next())),
      placer_(config.placer, self, ring.leafset(), contacts) {}

// ---- asking ----

std::uint64_t Lookup::ask(Time now, const Hash256& key, std::uint32_t demand, Output& out) {
  const std::uint64_t number = rng_.next();
  if (requests_.size() >= config_.requests) {
    GW_REACHED("lookup: too many requests");
    out.events.push_back(Located{number, false, {}, 0});
    return number;
  }
  requests_.emplace(number, Request{.key = key, .demand = demand});
  send(now, number, out);
  answer_arrived(now, out);
  return number;
}

void Lookup::send(Time now, std::uint64_t number, Output& out) {
  Request& request = requests_.at(number);
  ++request.tries;
  request.until = now + config_.resend_after;
  Message::Route route;
  route.set_key(wire::bytes_of(salted(request.key, request.salt)));
  route.set_number(number);
  route.set_demand(request.demand);
  write(self_, *route.mutable_origin());
  if (const Descriptor* hop = router_.send(now, std::move(route), request.first_hops, out)) request.first_hops.push_back(hop->id);
}

void Lookup::on_found(Time now, const Message::Found& answer, const Descriptor& host, Output& out) {
  const auto found = requests_.find(answer.number());
  if (found == requests_.end()) return;
  if (answer.refused()) return take_another_salt(now, answer.number(), out);
  end(answer.number(), {answer.number(), true, host, answer.hops()}, out);
}

void Lookup::take_another_salt(Time now, std::uint64_t number, Output& out) {
  Request& request = requests_.at(number);
  if (request.salt >= config_.salts) return end(number, {number, false, {}, 0}, out);
  GW_REACHED("lookup: another salt");
  const Time pause = config_.pause * (1 << request.salt);
  ++request.salt;
  request.tries = 0;
  request.first_hops.clear();
  request.until = now + pause / 2 + Time(rng_.below(static_cast<std::uint64_t>(pause.count())));
}

void Lookup::end(std::uint64_t number, Located located, Output& out) {
  requests_.erase(number);
  out.events.push_back(std::move(located));
}

void Lookup::on_unreachable(Time now, const PeerId& peer, Output& out) {
  router_.on_unreachable(now, peer, out);
  answer_arrived(now, out);
}

void Lookup::on_tick(Time now, Output& out) {
  router_.on_tick(now, out);
  std::vector<std::uint64_t> due;
  for (const auto& [number, request] : requests_)
    if (request.until <= now) due.push_back(number);
  for (const std::uint64_t number : due) {
    const Request& request = requests_.at(number);
    if (request.tries < config_.tries) {
      send(now, number, out);
    } else {
      GW_REACHED("lookup: no answer");
      end(number, {number, false, {}, 0}, out);
    }
  }
  answer_arrived(now, out);
}

Time Lookup::next_deadline() const {
  Time next = router_.next_deadline();
  for (const auto& [number, request] : requests_) next = std::min(next, request.until);
  return next;
}

// ---- answering ----

void Lookup::on_route(Time now, const Message::Route& request, Output& out) {
  if (request.diversions() > 0) {
    decide(now, request, out);
  } else {
    router_.send(now, request, {}, out);
    answer_arrived(now, out);
  }
}

void Lookup::answer_arrived(Time now, Output& out) {
  for (const Message::Route& request : router_.take_arrived()) decide(now, request, out);
}

void Lookup::decide(Time now, const Message::Route& request, Output& out) {
  Message::Found found;
  found.set_number(request.number());
  found.set_hops(request.hops());
  if (request.demand() > 0) {
    const Placer::Decision decision = placer_.decide(now, {wire::hash_of(request.key()), request.demand(), request.diversions()});
    if (const auto* divert = std::get_if<Placer::Divert>(&decision)) {
      Message message;
      *message.mutable_route() = request;
      message.mutable_route()->set_diversions(request.diversions() + 1);
      out.sends.push_back({divert->to->id, contact_of(*divert->to), std::move(message)});
      return;
    }
    if (const auto* refuse = std::get_if<Placer::Refuse>(&decision)) {
      found.set_refused(true);
      found.set_free_slots(refuse->free_slots);
    }
  }
  if (!found.refused()) write(self_, *found.mutable_host());
  answer(now, request, found, out);
}

void Lookup::answer(Time now, const Message::Route& request, const Message::Found& found, Output& out) {
  const Descriptor origin = read(request.origin(), signer_);
  if (origin.id == self_.id) return on_found(now, found, self_, out);
  Message message;
  *message.mutable_found() = found;
  out.sends.push_back({origin.id, contact_of(origin), std::move(message)});
}

}  // namespace gw::overlay
