#pragma once
// The safety of a group, checked from outside after every step of a member.

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "job/group/group_member.h"

namespace gw::sim::group_simulation {

// The deeds of all members together. Every function returns a complaint; empty: all is well. A value without threads.
class GroupChecks {
 public:
  // One leader per term, which has every entry that was committed in an earlier term. A later leader may have committed others already.
  std::string on_leader(std::size_t node, const job::GroupMember& member);
  // Log matching: entries of the same index and term are the same, and follow entries of the same term.
  std::string on_entry(const job::GroupLog& log, std::uint64_t index);
  // Committed entries are never replaced. `copies`: members whose disk has the entry, when its leader says that it is committed.
  std::string on_committed(const job::GroupMember& member, std::uint64_t index, std::size_t copies);
  // A state is the one that follows from the committed entries.
  std::string on_state(std::uint64_t index, const std::string& state);

  std::uint64_t highest_committed() const { return committed_.empty() ? 0 : committed_.rbegin()->first; }
  bool is_committed(std::uint64_t index) const { return committed_.contains(index); }

 private:
  struct Written {
    job::LogEntry entry;
    std::uint64_t term_before = 0;
  };

  std::map<std::uint64_t, std::size_t> leaders_;  // by term
  std::map<job::LogPosition, Written> written_;
  struct Committed {
    job::LogEntry entry;
    std::uint64_t term = 0;  // of the leader that committed it
  };

  std::map<std::uint64_t, Committed> committed_;
  std::map<std::uint64_t, std::string> states_;
};

}  // namespace gw::sim::group_simulation
