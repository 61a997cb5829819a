#pragma once
// The names of machines that were seen, also after they are gone.

#include <deque>
#include <map>
#include <string>

#include "job/names.h"

namespace gw::node {

// A peer that has died is in no table of the overlay any more, and people still ask which machine it was. Remembers the name that each peer
// had when it was seen last. Limits: kMost peers; the one that was first seen goes first. Belongs to the node thread.
class MachineNames {
 public:
  static constexpr std::size_t kMost = 4096;

  void note(const job::PeerId& peer, const std::string& name) {
    if (name.empty()) return;
    const auto [entry, is_new] = names_.insert_or_assign(peer, name);
    if (!is_new) return;
    order_.push_back(peer);
    if (order_.size() <= kMost) return;
    names_.erase(order_.front());
    order_.pop_front();
  }
  // Empty: none is known.
  std::string name_of(const job::PeerId& peer) const {
    const auto found = names_.find(peer);
    return found == names_.end() ? "" : found->second;
  }

 private:
  std::map<job::PeerId, std::string> names_;
  std::deque<job::PeerId> order_;  // of names_
};

}  // namespace gw::node
