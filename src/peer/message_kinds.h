#pragma once
// Kinds of messages that a peer treats differently.

#include <cstddef>
#include <variant>
#include <vector>

#include "job/actions.h"

namespace gw::peer {

// Messages allowed between peers that share no grid: everything but jobs, since each grid has rules of its own.
inline bool is_for_everybody(const job::PeerMessage& message) { return !message.has_job(); }

// Whether this peer loses something if the receiver dies. False for requests (slots, roster), refusals and for messages that end the
// receiver's part.
inline bool is_of_job(const job::PeerMessage& message) {
  if (!message.has_job()) return false;
  const wire::pb::JobMessage& job = message.job();
  return !job.has_search() && !job.has_decline() && !job.has_release() && !job.has_no_claim() && !job.has_wounded() && !job.has_forget() &&
         !job.has_want_roster();
}

inline std::size_t message_bytes(const std::vector<job::Action>& actions) {
  std::size_t bytes = 0;
  for (const job::Action& action : actions)
    if (const auto* send = std::get_if<job::Send>(&action)) bytes += send->message.ByteSizeLong();
  return bytes;
}

}  // namespace gw::peer
