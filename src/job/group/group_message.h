#pragma once
// The messages between the members of a job's group, and what a member asks of its owner.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "job/group/group_log.h"

namespace gw::job {

// Whether the question is only if the receiver would vote: then no term changes.
enum class Poll : std::uint8_t { trial, election };

// Candidate to all members.
struct AskVote {
  Poll poll = Poll::election;
  LogPosition last;
};
struct Vote {
  Poll poll = Poll::election;
  bool granted = false;
};
// Leader to the others. Without entries it says that the leader lives.
struct Replicate {
  LogPosition before;  // of the first entry
  std::uint64_t committed = 0;
  std::vector<LogEntry> entries;
};
// The whole state up to a position, for a member whose log ends before the leader's begins. The owner fills in the content.
struct InstallState {
  GroupLog::Base at;
  std::string content;
};
// Answers both. Sent when everything up to `last` is durable.
struct Replicated {
  bool matches = false;  // the log is that of the leader up to `last`; otherwise it ends at `last` or differs after it
  std::uint64_t last = 0;
};

struct GroupMessage {
  std::uint64_t term = 0;  // of the sender; of a trial the term that it would begin
  std::variant<AskVote, Vote, Replicate, InstallState, Replicated> kind;
};

// The vote that a member must not forget.
struct Ballot {
  std::uint64_t term = 0;
  std::optional<PeerId> vote;
  friend bool operator==(const Ballot&, const Ballot&) = default;
};

// One atomic change of what a member has stored. Its parts take effect in this order; writes take effect in the order of their numbers.
struct GroupWrite {
  std::uint64_t number = 0;
  std::optional<Ballot> ballot = {};
  std::optional<InstallState> state = {};      // replaces the stored state; the log goes on after it as by GroupLog::reset
  std::optional<std::uint64_t> truncate = {};  // the log ends before this entry
  std::vector<LogEntry> entries = {};          // at the end of the log
};
struct GroupSend {
  PeerId to;
  GroupMessage message;
  std::uint64_t after_write = 0;  // leaves when the write of this number is durable; 0: at once
};
struct GroupOutput {
  std::vector<GroupWrite> writes;
  std::vector<GroupSend> sends;
};

}  // namespace gw::job
