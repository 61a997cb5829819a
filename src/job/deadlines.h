#pragma once
// A set of keys ordered by deadline.

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "job/names.h"

namespace gw::job {

// At most one deadline per key. Every operation costs O(log keys). A value without threads; its size is the number of keys.
template <class Key>
class Deadlines {
 public:
  // kNever removes the deadline.
  void set(const Key& key, Time at) {
    const auto found = times_.find(key);
    if (found != times_.end()) {
      if (found->second == at) return;
      order_.erase({found->second, key});
      times_.erase(found);
    }
    if (at == kNever) return;
    times_.emplace(key, at);
    order_.emplace(at, key);
  }
  void remove(const Key& key) { set(key, kNever); }

  // Returns and removes a key whose deadline has passed.
  std::optional<Key> take_due(Time now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    const Key key = order_.begin()->second;
    remove(key);
    return key;
  }
  Time next() const { return order_.empty() ? kNever : order_.begin()->first; }
  std::size_t size() const { return order_.size(); }

 private:
  std::map<Key, Time> times_;
  std::set<std::pair<Time, Key>> order_;
};

}  // namespace gw::job
