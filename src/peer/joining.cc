#include "peer/joining.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "wire/grid_name.h"

namespace gw::peer {
namespace {

GridPass pass_of(const Joining::Wish& wish, const job::Message::Admitted& answer) {
  GridPass pass = GridPass::open(wish.name);
  pass.key = wish.invitation.grid_key;
  pass.id = wire::private_grid(*pass.key);
  pass.membership = overlay::read(answer.membership());
  pass.addresses = wish.invitation.addresses;
  if (!answer.secret().empty()) std::ranges::copy(as_bytes(answer.secret()), pass.secret.emplace().begin());
  return pass;
}

// What a holder sends is checked like everything else: somebody else may listen at its address.
Status check_pass(const GridPass& pass, const PeerId& self, const PublicKey& key) {
  overlay::KnownMembers known_members({}, *pass.key);
  if (!known_members.admit(overlay::WallSeconds(0), self, key, pass.membership))
    return fail(Kind::invalid, "whoever answered gave a membership that the key of the grid did not sign");
  if (pass.secret && SigningKey(*pass.secret).public_key() != *pass.key)
    return fail(Kind::invalid, "whoever answered gave a key that is not that of the grid");
  return ok();
}

}  // namespace

Status Joining::ask(Time now, Wish wish, Actions& out) {
  if (open_.size() >= config_.at_once)
    return fail(Kind::overloaded, "{} invitations are being tried already: try again later", open_.size());
  Open& open = open_.emplace_back(Open{.wish = std::move(wish), .wait = config_.again});
  if (open.wish.request) open.until = now + config_.patience;
  dial(now, open, out);
  return ok();
}

void Joining::dial(Time now, Open& open, Actions& out) const {
  for (const std::string& address : open.wish.invitation.addresses) out.add(job::Connect{address});
  open.next = now + open.wait;
  open.wait = std::min(2 * open.wait, config_.again_most);
}

void Joining::on_connected(const PeerId& peer, const std::string& address, Actions& out) {
  for (Open& open : open_) {
    if (std::ranges::find(open.wish.invitation.addresses, address) == open.wish.invitation.addresses.end()) continue;
    open.asked.insert(peer);
    job::Message message;
    message.mutable_admit()->set_invitation(text_of(open.wish.invitation));
    message.mutable_admit()->set_name(open.wish.machine);
    message.mutable_admit()->set_key(self_.data(), self_.size());
    out.send(peer, std::move(message));
  }
}

std::optional<Joining::Granted> Joining::on_admitted(const PeerId& from, const job::Message::Admitted& answer) {
  const auto found = std::ranges::find_if(open_, [&](const Open& open) {
    return open.asked.contains(from) && wire::private_grid(open.wish.invitation.grid_key).bytes() == answer.grid();
  });
  if (found == open_.end()) return std::nullopt;
  if (!answer.has_membership() && answer.not_a_holder()) {
    found->last_word = answer.why();
    return std::nullopt;
  }
  Wish wish = std::move(found->wish);
  open_.erase(found);
  if (!answer.has_membership()) return Granted{std::move(wish), fail(Kind::invalid, "{}", answer.why())};
  GridPass pass = pass_of(wish, answer);
  const Status good = check_pass(pass, PeerId{}, self_);
  return Granted{std::move(wish), good ? Result<GridPass>(std::move(pass)) : Result<GridPass>(good.error())};
}

Error Joining::too_late(const Open& open) const {
  return fail(Kind::timeout,
              "nobody at {} has let this peer into grid '{}'{}: is the daemon that made the invitation up, and reachable from here?",
              fmt::join(open.wish.invitation.addresses, ", "), open.wish.invitation.name,
              open.last_word.empty() ? "" : fmt::format(" ({})", open.last_word));
}

std::vector<Joining::Granted> Joining::on_tick(Time now, Actions& out) {
  std::vector<Granted> given_up;
  std::erase_if(open_, [&](Open& open) {
    if (now < open.until) return false;
    Error why = too_late(open);
    given_up.push_back({std::move(open.wish), std::move(why)});
    return true;
  });
  for (Open& open : open_)
    if (now >= open.next) dial(now, open, out);
  return given_up;
}

Time Joining::next_deadline() const {
  Time next = job::kNever;
  for (const Open& open : open_) next = std::min({next, open.next, open.until});
  return next;
}

}  // namespace gw::peer
