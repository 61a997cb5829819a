#pragma once
// Blobs that are dropped once the records before them are durable.

#include <deque>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "job/actions.h"

namespace gw::node {

// Keeps the order of the drops, and finds one by its hash when its blob is stored again: each page of an image that comes looks here.
//
// Costs: hold() and cancel() O(1), take_due() O(what is due). A value without threads.
class HeldDrops {
 public:
  // The blob is to be dropped after this ticket. REQUIRES: tickets do not fall.
  void hold(job::Ticket after, const Hash256& hash) {
    held_[hash] = after;
    order_.push_back({after, hash});
  }
  // The blob is needed again.
  void cancel(const Hash256& hash) { held_.erase(hash); }
  // The blobs whose ticket has come, in the order in which they were given.
  std::vector<Hash256> take_due(job::Ticket persisted) {
    std::vector<Hash256> due;
    for (; !order_.empty() && order_.front().after <= persisted; order_.pop_front()) {
      const auto found = held_.find(order_.front().hash);
      if (found == held_.end() || found->second != order_.front().after) continue;  // cancelled, or held again later
      due.push_back(found->first);
      held_.erase(found);
    }
    return due;
  }

 private:
  struct Entry {
    job::Ticket after;
    Hash256 hash;
  };

  std::unordered_map<Hash256, job::Ticket> held_;
  std::deque<Entry> order_;
};

}  // namespace gw::node
