#include "group/group_checks.h"

#include <fmt/format.h>

namespace gw::sim::group_simulation {

std::string GroupChecks::on_leader(std::size_t node, const job::GroupMember& member) {
  const auto [leader, fresh] = leaders_.emplace(member.term(), node);
  if (leader->second != node) return fmt::format("peers {} and {} both led in term {}", leader->second, node, member.term());
  if (!fresh) return {};
  for (const auto& [index, committed] : committed_) {
    if (index <= member.log().base().at.index || committed.term >= member.term()) continue;
    if (member.log().term_at(index) != committed.entry.term)
      return fmt::format("peer {} leads and lacks the committed entry {}", node, index);
  }
  return {};
}

std::string GroupChecks::on_entry(const job::GroupLog& log, std::uint64_t index) {
  const job::LogEntry& entry = log.at(index);
  const Written written{entry, log.term_at(index - 1).value_or(0)};
  const auto [known, fresh] = written_.try_emplace({entry.term, index}, written);
  if (known->second.entry != entry || known->second.term_before != written.term_before)
    return fmt::format("two logs differ at entry {} of term {}", index, entry.term);
  return {};
}

std::string GroupChecks::on_committed(const job::GroupMember& member, std::uint64_t index, std::size_t copies) {
  const job::LogEntry& entry = member.log().at(index);
  const auto [known, fresh] = committed_.try_emplace(index, Committed{entry, member.term()});
  if (known->second.entry != entry) return fmt::format("entry {} was committed twice, with different content", index);
  if (fresh && 2 * copies <= member.members().size())
    return fmt::format("entry {} is committed and only {} members have it", index, copies);
  // Raft, figure 8: copies at a majority do not keep a later leader from replacing an entry of an earlier term.
  if (fresh && member.leads() && member.log().term_at(member.committed()) != member.term())
    return fmt::format("entry {} was committed by its copies alone, in a later term", index);
  return {};
}

std::string GroupChecks::on_state(std::uint64_t index, const std::string& state) {
  const auto [known, fresh] = states_.try_emplace(index, state);
  return known->second == state ? "" : fmt::format("two members have different states at entry {}", index);
}

}  // namespace gw::sim::group_simulation
