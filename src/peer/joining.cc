#include "peer/joining.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "wire/grid_name.h"

namespace gw::peer {
namespace {

GridCredentials credentials_of(const Joining::JoinRequest& join_request, const job::PeerMessage::Admitted& answer) {
  GridCredentials credentials = GridCredentials::open(join_request.name);
  credentials.key = join_request.invitation.grid_key;
  credentials.id = wire::private_grid(*credentials.key);
  credentials.membership = overlay::read(answer.membership());
  credentials.addresses = join_request.invitation.addresses;
  if (!answer.secret().empty()) std::ranges::copy(as_bytes(answer.secret()), credentials.secret.emplace().begin());
  return credentials;
}

// Credentials from a holder are checked too: another peer may listen at its address.
Status check_credentials(const GridCredentials& credentials, const PeerId& self, const PublicKey& key) {
  overlay::KnownMembers known_members({}, *credentials.key);
  if (!known_members.admit(overlay::WallSeconds(0), self, key, credentials.membership))
    return fail(Kind::invalid, "the peer that answered gave a membership that the key of the grid did not sign");
  if (credentials.secret && SigningKey(*credentials.secret).public_key() != *credentials.key)
    return fail(Kind::invalid, "the peer that answered gave a key that is not that of the grid");
  return ok();
}

}  // namespace

Status Joining::ask(Time now, JoinRequest join_request, Actions& out) {
  if (open_.size() >= config_.at_once)
    return fail(Kind::overloaded, "{} invitations are being tried already: try again later", open_.size());
  Open& open = open_.emplace_back(Open{.join_request = std::move(join_request), .wait = config_.retry_after});
  if (open.join_request.request) open.until = now + config_.patience;
  dial(now, open, out);
  return ok();
}

void Joining::dial(Time now, Open& open, Actions& out) const {
  for (const std::string& address : open.join_request.invitation.addresses) out.add(job::Connect{address});
  open.next = now + open.wait;
  open.wait = std::min(2 * open.wait, config_.retry_after_most);
}

void Joining::on_connected(const PeerId& peer, const std::string& address, Actions& out) {
  for (Open& open : open_) {
    if (std::ranges::find(open.join_request.invitation.addresses, address) == open.join_request.invitation.addresses.end()) continue;
    open.asked.insert(peer);
    job::PeerMessage message;
    message.mutable_admit()->set_invitation(text_of(open.join_request.invitation));
    message.mutable_admit()->set_name(open.join_request.machine);
    message.mutable_admit()->set_key(self_.data(), self_.size());
    out.send(peer, std::move(message));
  }
}

std::optional<Joining::JoinResult> Joining::on_admitted(const PeerId& from, const job::PeerMessage::Admitted& answer) {
  const auto found = std::ranges::find_if(open_, [&](const Open& open) {
    return open.asked.contains(from) && wire::private_grid(open.join_request.invitation.grid_key).bytes() == answer.grid();
  });
  if (found == open_.end()) return std::nullopt;
  if (!answer.has_membership() && answer.not_a_holder()) {
    found->last_word = answer.why();
    return std::nullopt;
  }
  JoinRequest join_request = std::move(found->join_request);
  open_.erase(found);
  if (!answer.has_membership()) return JoinResult{std::move(join_request), fail(Kind::invalid, "{}", answer.why())};
  GridCredentials credentials = credentials_of(join_request, answer);
  const Status good = check_credentials(credentials, PeerId{}, self_);
  return JoinResult{std::move(join_request),
                    good ? Result<GridCredentials>(std::move(credentials)) : Result<GridCredentials>(good.error())};
}

Error Joining::too_late(const Open& open) const {
  return fail(Kind::timeout,
              "no holder at {} has admitted this peer to grid '{}'{}: check that the daemon that made the invitation runs and is reachable "
              "from here",
              fmt::join(open.join_request.invitation.addresses, ", "), open.join_request.invitation.name,
              open.last_word.empty() ? "" : fmt::format(" ({})", open.last_word));
}

std::vector<Joining::JoinResult> Joining::on_tick(Time now, Actions& out) {
  std::vector<JoinResult> given_up;
  std::erase_if(open_, [&](Open& open) {
    if (now < open.until) return false;
    Error why = too_late(open);
    given_up.push_back({std::move(open.join_request), std::move(why)});
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
