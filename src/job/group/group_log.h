#pragma once
// The replicated log of a job's group, as one member has it.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/names.h"

namespace gw::job {

using GroupMembers = std::set<PeerId>;

// An entry's place in the log, and the term in which it was appended. Of two logs the one with the greater last position is newer.
struct LogPosition {
  std::uint64_t term = 0;
  std::uint64_t index = 0;  // 0: before the first entry
  friend auto operator<=>(const LogPosition&, const LogPosition&) = default;
};

struct LogEntry {
  std::uint64_t term = 0;
  std::optional<GroupMembers> members;  // the group from this entry on; none: no change
  std::string content;                  // what the leader recorded in one turn
  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

// The entries after a base, whose effect is part of the state that the member has stored. Log matching: two logs that have the same
// position have the same entries up to it.
//
// Costs: O(1), O(log changes of members) for members, and O(entries) for those that are removed. A value without threads; whoever appends
// keeps it within limits.
class GroupLog {
 public:
  struct Base {
    LogPosition at;
    GroupMembers members;
  };
  explicit GroupLog(Base base, std::vector<LogEntry> entries = {});

  const Base& base() const { return base_; }
  LogPosition last() const;
  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }
  // None: it is before the base, or after the last entry.
  std::optional<std::uint64_t> term_at(std::uint64_t index) const;
  // REQUIRES: the entry is after the base, and there.
  const LogEntry& at(std::uint64_t index) const { return entries_.at(index - base_.at.index - 1); }

  // The newest members that the log names: they count even before the entry is committed.
  const GroupMembers& members() const { return changes_.empty() ? base_.members : changes_.rbegin()->second; }
  // REQUIRES: the index is that of the base or after it.
  const GroupMembers& members_at(std::uint64_t index) const;
  std::uint64_t members_index() const { return changes_.empty() ? base_.at.index : changes_.rbegin()->first; }

  void append(LogEntry entry);
  // Removes this entry and all after it.
  void truncate(std::uint64_t from);
  // The entries up to this one are part of the stored state: they become the base. REQUIRES: the entry is there, or is the base.
  void discard(std::uint64_t through);
  // Starts over after a state that came from the leader. Entries after it stay if they follow it.
  void reset(Base base);

 private:
  Base base_;
  std::deque<LogEntry> entries_;
  std::map<std::uint64_t, GroupMembers> changes_;  // by the index of their entry
  std::size_t bytes_ = 0;
};

}  // namespace gw::job
