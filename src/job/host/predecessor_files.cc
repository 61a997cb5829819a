#include "job/host/predecessor_files.h"

#include <algorithm>

#include "base/reached.h"
#include "job/tasks/file_list.h"
#include "wire/messages/worker_frames.h"

namespace gw::job {

std::set<std::uint32_t> PredecessorFiles::tasks_of(const wire::pb::TaskRow& row) {
  std::set<std::uint32_t> tasks;
  for (const wire::pb::FromTask& from : row.files_from()) tasks.insert(from.task());
  if (row.has_standard_input_from()) tasks.insert(row.standard_input_from().task());
  return tasks;
}

std::vector<std::uint32_t> PredecessorFiles::take_question(Time now, const wire::pb::TaskRow& row) {
  std::vector<std::uint32_t> unknown;
  for (const std::uint32_t task : tasks_of(row))
    if (!known_.contains(task) && asked_.size() < kAsked && asked_.insert(task).second) unknown.push_back(task);
  if (!unknown.empty()) asked_at_ = now;
  return unknown;
}

std::vector<std::uint32_t> PredecessorFiles::take_due(Time now) {
  if (now < next_due()) return {};
  asked_at_ = now;
  return {asked_.begin(), asked_.end()};
}

std::vector<Hash256> PredecessorFiles::missing(const wire::pb::TaskRow& row) {
  std::vector<Hash256> hashes;
  needed_.clear();
  for (const std::uint32_t task : tasks_of(row)) {
    const auto known = known_.find(task);
    if (known == known_.end() || !known->second.list) continue;
    const bool is_new = needed_.insert(*known->second.list).second;
    if (is_new && !lists_.contains(*known->second.list)) hashes.push_back(*known->second.list);
  }
  return hashes;
}

// Home may name tasks that nobody asked for: only answers to questions are remembered.
void PredecessorFiles::on_answer(const JobMessage::FilesAre& answer) {
  for (const JobMessage::FilesAre::Files& files : answer.files()) {
    if (asked_.erase(files.task()) == 0) continue;
    Known& known = known_[files.task()];
    known.not_over = files.not_over();
    if (!files.list().empty()) known.list = wire::hash_of(files.list());
  }
}

void PredecessorFiles::on_list(const Hash256& hash, const std::string& bytes) {
  if (!lists_.emplace(hash, wire::decode_task_files(as_bytes(bytes))).second) return;
  order_.emplace_back(hash, bytes.size());
  bytes_ += bytes.size();
  while (bytes_ > config_.bytes) {
    const auto oldest = std::ranges::find_if(order_, [&](const auto& list) { return !needed_.contains(list.first); });
    overflow_ = oldest == order_.end();
    if (overflow_) return;
    GW_REACHED("host: a list of files made room for another");
    lists_.erase(oldest->first);
    bytes_ -= oldest->second;
    order_.erase(oldest);
  }
}

// A file or folder that the task has left, under the path that the row gives it.
Result<std::vector<PredecessorFiles::Entry>> PredecessorFiles::entries_of(const wire::pb::FromTask& from) const {
  const Known& known = known_.at(from.task());
  if (known.not_over) return fail(Kind::invalid, "it reads '{}' of task {}, which does not come before it", from.output(), from.task());
  if (!known.list) return job::entries_of(from, {});
  const Result<wire::pb::TaskFileList>& list = lists_.at(*known.list);
  return list ? job::entries_of(from, *list) : list.error();
}

Result<std::optional<wire::pb::TaskRow>> PredecessorFiles::make(const wire::pb::TaskRow& row) const {
  const auto too_many = [] { return fail(Kind::invalid, "it reads more files of other tasks than can be described: pack them into one"); };
  if (overflow_) return too_many();
  for (const std::uint32_t task : tasks_of(row)) {
    const auto known = known_.find(task);
    if (known == known_.end()) return std::optional<wire::pb::TaskRow>();
    if (known->second.list && !lists_.contains(*known->second.list)) return std::optional<wire::pb::TaskRow>();
  }
  wire::pb::TaskRow made = row;
  made.clear_files_from();
  made.clear_standard_input_from();
  for (const wire::pb::FromTask& from : row.files_from()) {
    GW_TRY(const std::vector<Entry> entries, entries_of(from));
    for (const Entry& entry : entries) *made.add_inputs() = entry;
  }
  if (made.ByteSizeLong() > wire::kMaxRowSegmentBytes) return too_many();
  if (!row.has_standard_input_from()) return std::optional(std::move(made));
  GW_TRY(const std::vector<Entry> entries, entries_of(row.standard_input_from()));
  if (entries.front().type() != Entry::FILE)
    return fail(Kind::invalid, "'{}' of task {} is no file, and it is to be its standard input", row.standard_input_from().output(),
                row.standard_input_from().task());
  *made.mutable_standard_input() = entries.front();
  return std::optional(std::move(made));
}

}  // namespace gw::job
