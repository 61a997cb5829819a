#include "overlay/overlay.h"

#include <algorithm>

namespace gw::overlay {

Overlay::Overlay(const Config& config, const Self& self, const Notary& notary, Rng rng)
    : config_(config),
      notary_(notary),
      rng_(rng),
      sampler_(config_.sampler, self.id, rng_),
      ring_(config_.ring, self.id, tables_, Rng(rng_.next())),
      heard_(config_.heard),
      rejoin_(config_.rejoin, config_.address, config_.known, rng_) {
  own_.id = self.id;
  own_.key = self.key;
  own_.address = config_.address;
  own_.incarnation = {self.boot, 0};
  own_.reach = config_.address.empty() ? Reach::outbound : Reach::unknown;
  renew_self();
}

void Overlay::start(Time now, const std::vector<std::string>& remembered, Output& out) {
  born_ = now;
  // Peers that are started by one hand must not all ask in the same instant.
  round_at_ = now + Time(rng_.below(static_cast<std::uint64_t>(config_.young_round.count())));
  rejoin_.start(now, remembered, out);
}

void Overlay::on_tick(Time now, Output& out) {
  const std::size_t before = out.sends.size();
  serve(sampler_.on_tick(now, own_, out), now, out);
  rejoin_.on_tick(now, out);
  if (now >= round_at_) begin_round(now, out);
  finish(before, out);
}

Time Overlay::next_deadline() const { return std::min({round_at_, sampler_.next_deadline(), rejoin_.next_deadline()}); }

void Overlay::begin_round(Time now, Output& out) {
  const Time round = round_length(now);
  const auto tenth = static_cast<std::uint64_t>(round.count() / 10);
  round_at_ = now + round - Time(tenth) + Time(rng_.below(2 * tenth));
  renew_self();
  serve(sampler_.on_round(now, round, own_, out), now, out);
  ring_.on_round(own_, sampler_.cache().entries(), out);
}

// A descriptor that is newer than all before: what others have of this peer must not grow old, and refutes whatever was said of it.
void Overlay::renew_self() {
  ++own_.incarnation.stamp;
  sign(config_.grid, notary_, own_);
}

void Overlay::serve(Sampler::Need need, Time now, Output& out) {
  if (need == Sampler::Need::bootstrap) rejoin_.on_need(now, out);
}

void Overlay::finish(std::size_t before, Output& out) {
  for (std::size_t i = before; i < out.sends.size(); ++i) {
    Send& send = out.sends[i];
    send.message.set_grid(config_.grid.hash.bytes.data(), config_.grid.hash.bytes.size());
    if (!send.address.empty()) continue;
    if (const Descriptor* known = tables_.find(send.to)) send.address = known->address;
  }
}

void Overlay::on_connected(Time now, const PeerId& peer, const std::string& address, Output& out) {
  if (peer == own_.id) return;
  if (address.empty()) {
    if (own_.reach == Reach::unknown) own_.reach = Reach::open;
    return;
  }
  const std::size_t before = out.sends.size();
  if (rejoin_.on_connected(now, address)) sampler_.ask(now, peer, address, own_, out);
  finish(before, out);
}

void Overlay::on_unreachable(Time now, const PeerId& peer, Failure, Output& out) {
  const std::size_t before = out.sends.size();
  serve(sampler_.on_unreachable(now, peer, own_, out), now, out);
  finish(before, out);
}

void Overlay::on_reset(Time, const PeerId&, Output&) {}

void Overlay::on_heard(Time now, const PeerId& from, Output& out) {
  if (from == own_.id) return;
  if (heard_.on_heard(now, from)) out.events.push_back(Seen{from, true});
}

void Overlay::in_touch(Time, const PeerId&, Output&) {}

void Overlay::set_slots(std::uint32_t slots, std::uint32_t free_slots) {
  own_.slots = slots;
  own_.free_slots = std::min(slots, free_slots);
}

void Overlay::leave(Output& out) {
  const std::size_t before = out.sends.size();
  for (const Descriptor& peer : sampler_.cache().entries()) {
    Message::Leave& leave = *out.sends.emplace_back(Send{peer.id, {}, {}}).message.mutable_leave();
    leave.set_boot(own_.incarnation.boot);
    leave.set_stamp(own_.incarnation.stamp);
  }
  finish(before, out);
}

}  // namespace gw::overlay
