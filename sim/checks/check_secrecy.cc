#include <fmt/format.h>

#include "checks/checkers.h"

namespace gw::sim {

Complaint SecrecyChecker::on_sent(const job::PeerId& home, const job::PeerId& from, const job::Send& send) {
  const wire::pb::JobMessage& message = send.message.job();
  if (message.has_roster() && from == home) {
    wire::pb::JobRoster roster;
    if (!roster.ParseFromString(message.roster().roster().roster())) return "the home of an honest job sends a roster that cannot be read";
    for (const wire::pb::JobRoster::Member& member : roster.members()) members_[message.job()].insert(member.peer());
  }
  const bool tells = (message.has_blob() && !message.blob().bytes().empty()) || message.has_image_is();
  if (!tells || send.to == home || members_[message.job()].contains(send.to.bytes())) return "";
  return fmt::format("peer {} tells peer {}, who takes no part in the job, what is in it", from.brief(), send.to.brief());
}

}  // namespace gw::sim
