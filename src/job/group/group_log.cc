#include "job/group/group_log.h"

#include <iterator>
#include <utility>

#include "base/check.h"

namespace gw::job {
namespace {

std::size_t size_of(const LogEntry& entry) {
  return sizeof(LogEntry) + entry.content.size() + (entry.members ? entry.members->size() * sizeof(PeerId) : 0);
}

}  // namespace

GroupLog::GroupLog(Base base, std::vector<LogEntry> entries) : base_(std::move(base)) {
  for (LogEntry& entry : entries) append(std::move(entry));
}

LogPosition GroupLog::last() const {
  if (entries_.empty()) return base_.at;
  return {entries_.back().term, base_.at.index + entries_.size()};
}

std::optional<std::uint64_t> GroupLog::term_at(std::uint64_t index) const {
  if (index == base_.at.index) return base_.at.term;
  if (index < base_.at.index || index > last().index) return std::nullopt;
  return at(index).term;
}

const GroupMembers& GroupLog::members_at(std::uint64_t index) const {
  const auto after = changes_.upper_bound(index);
  return after == changes_.begin() ? base_.members : std::prev(after)->second;
}

void GroupLog::append(LogEntry entry) {
  bytes_ += size_of(entry);
  if (entry.members) changes_[last().index + 1] = *entry.members;
  entries_.push_back(std::move(entry));
}

void GroupLog::truncate(std::uint64_t from) {
  for (; last().index >= from && !entries_.empty(); entries_.pop_back()) {
    bytes_ -= size_of(entries_.back());
    changes_.erase(last().index);
  }
}

void GroupLog::discard(std::uint64_t through) {
  const auto term = term_at(through);
  GW_ASSERT(term.has_value());
  Base base{{*term, through}, members_at(through)};
  for (std::uint64_t gone = through - base_.at.index; gone > 0; --gone) {
    bytes_ -= size_of(entries_.front());
    entries_.pop_front();
  }
  changes_.erase(changes_.begin(), changes_.upper_bound(through));
  base_ = std::move(base);
}

void GroupLog::reset(Base base) {
  if (base.at.index >= base_.at.index && term_at(base.at.index) == base.at.term) {
    discard(base.at.index);
  } else {
    entries_.clear();
    changes_.clear();
    bytes_ = 0;
  }
  base_ = std::move(base);
}

}  // namespace gw::job
