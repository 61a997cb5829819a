#pragma once
// The files that earlier tasks of a graph have left, at a host of later ones; docs/design/020-graphs.md.

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "job/actions.h"

namespace gw::job {

// Turns a row that names files of other tasks into one in which they are ordinary inputs. Home says which blob lists the files of a task,
// and the caller fetches it.
//
// Limits: lists of Config::bytes, the oldest make room for others; a row whose lists have more together fails, as does one that becomes
// longer than wire::kMaxRowSegmentBytes. Costs: O(files
// named) per row. A machine without I/O or threads: its CodeStaging owns and drives it.
class PredecessorFiles {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    std::size_t bytes = 32u << 20;
  };

  explicit PredecessorFiles(const Config& config) : config_(config) {}

  // The tasks that the row names, whose lists are not known and were not asked for: home is to be asked now.
  std::vector<std::uint32_t> take_question(Time now, const wire::pb::TaskRow& row);
  // The tasks for which home is to be asked again.
  std::vector<std::uint32_t> take_due(Time now);
  // The lists of the row that are known by name only: the caller fetches them. Those of this row do not make room for others.
  std::vector<Hash256> missing(const wire::pb::TaskRow& row);
  void on_answer(const JobMessage::FilesAre& answer);
  void on_list(const Hash256& hash, const std::string& bytes);
  // nullopt: a list is not here. Kind::invalid: a task has not left what the row names, and which.
  Result<std::optional<wire::pb::TaskRow>> make(const wire::pb::TaskRow& row) const;
  // When a question is to be repeated; kNever: none is open.
  Time next_due() const { return asked_.empty() ? kNever : asked_at_ + config_.retry; }

  static bool concerns(const wire::pb::TaskRow& row) { return !row.files_from().empty() || row.has_standard_input_from(); }

 private:
  using Entry = wire::pb::InputEntry;
  struct Known {
    std::optional<Hash256> list;  // none: the task has left no files
    bool not_over = false;
  };

  static constexpr std::size_t kAsked = 4096;  // at once

  static std::set<std::uint32_t> tasks_of(const wire::pb::TaskRow& row);
  Result<std::vector<Entry>> entries_of(const wire::pb::FromTask& from) const;

  const Config config_;
  std::map<std::uint32_t, Known> known_;  // by task
  std::map<Hash256, Result<wire::pb::TaskFileList>> lists_;
  std::deque<std::pair<Hash256, std::size_t>> order_;  // of the lists, with their bytes
  std::size_t bytes_ = 0;
  std::set<Hash256> needed_;  // lists of the row that was looked at last
  bool overflow_ = false;     // they are too long
  std::set<std::uint32_t> asked_;
  Time asked_at_{0};
};

}  // namespace gw::job
