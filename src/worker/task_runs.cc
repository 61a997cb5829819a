#include "worker/task_runs.h"

#include <algorithm>

#include "job/authority/task_config.h"
#include "os/clock.h"
#include "worker/frame_values.h"

namespace gw::worker {
namespace {

wire::pb::ThreadConfig without_files(const wire::pb::ThreadConfig& config) {
  wire::pb::ThreadConfig start;
  *start.mutable_args() = config.args();
  *start.mutable_env() = config.env();
  start.set_random_seed(config.random_seed());
  if (config.has_standard_input()) *start.mutable_standard_input() = config.standard_input();
  return start;
}

}  // namespace

Result<job::TaskConfigs> TaskRuns::configs_of(const Setup& setup) {
  return job::TaskConfigs::make(without_files(setup.config), setup.tasks, setup.values);
}

TaskRuns::TaskRuns(Setup setup, job::TaskConfigs configs, OutgoingFrames& outgoing)
    : tasks_(setup.tasks),
      promote_after_(setup.promote_after),
      config_(std::move(setup.config)),
      configs_(std::move(configs)),
      outgoing_(outgoing) {}

Result<isolate::GuestStart> TaskRuns::start_of(const Task& task) const {
  GW_TRY(wire::pb::ThreadConfig config, configs_.config_of(task.number, task.row ? &*task.row : nullptr));
  return worker::start_of(std::move(config));
}

isolate::IsolateConfig TaskRuns::config(const isolate::Limits& limits) const {
  isolate::IsolateConfig config = config_of(config_, limits);
  config.standard_input.reset();  // each task opens it
  return config;
}

// --- pool threads

Result<TaskRuns::Point> TaskRuns::start_point(const std::function<Result<isolate::ForkPoint>()>& make) {
  std::lock_guard lock(point_mutex_);
  if (!point_) {
    GW_TRY(isolate::ForkPoint made, make());
    point_ = std::make_shared<const isolate::ForkPoint>(std::move(made));
  }
  return point_;
}

std::optional<TaskRuns::Task> TaskRuns::take() {
  bool wake = false;
  std::optional<Task> task;
  {
    std::lock_guard lock(mutex_);
    const bool hold = frame_bytes_ > kMaxUnsentBytes;
    held_ = held_ || hold;
    if (waiting_.empty() || hold || in_progress_ + promotions_ >= lanes_) {
      wake = close_frame_locked();
    } else {
      Range& first = waiting_.front();
      task.emplace(first.first++);
      if (auto row = rows_.extract(task->number)) task->row = std::move(row.mapped());
      if (--first.count == 0) waiting_.pop_front();
      in_progress_++;
      wake = gathered_bytes_ > 0 && !std::exchange(loop_knows_, true);
    }
  }
  if (wake) outgoing_.wake();
  return task;
}

void TaskRuns::end(std::optional<wire::pb::TaskResult> result) {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    in_progress_--;
    if (!result) return;
    const Time now = os::monotonic_now();
    if (gathered_bytes_ == 0) gathered_since_ = now;
    gathered_bytes_ += result->ByteSizeLong();
    *gathered_.mutable_task_results()->add_results() = *std::move(result);
    const bool due = gathered_bytes_ >= kMostBytes || gathered_.task_results().results_size() >= kMostResults;
    if (due || now >= gathered_since_ + kLongest) wake = close_frame_locked();
  }
  if (wake) outgoing_.wake();
}

void TaskRuns::add_promoted(std::shared_ptr<VirtualThread> thread) {
  std::lock_guard lock(mutex_);
  in_progress_--;
  promotions_++;
  promoted_.push_back(std::move(thread));
}

bool TaskRuns::close_frame_locked() {
  if (gathered_bytes_ == 0) return false;
  auto bytes = wire::encode(gathered_);
  GW_ASSERT(bytes.has_value());  // kMostBytes, and one result more
  gathered_.Clear();
  gathered_bytes_ = 0;
  frame_bytes_ += bytes->size();
  frames_.push_back(*std::move(bytes));
  return true;
}

// --- the loop

Status TaskRuns::add(const wire::pb::ToWorker::Tasks& tasks) {
  std::lock_guard lock(mutex_);
  int next_row = 0;
  for (const wire::pb::TaskRange& range : tasks.ranges()) {
    if (range.first() >= tasks_ || range.count() > tasks_ - range.first())
      return fail(Kind::invalid, "task {} and {} after it are to run, the job has {}", range.first(), range.count() - 1, tasks_);
    if (!waiting_.empty() && waiting_.back().first + waiting_.back().count == range.first()) {
      waiting_.back().count += range.count();
    } else {
      if (waiting_.size() >= kMaxRanges) return fail(Kind::overloaded, "more than {} ranges of tasks wait", kMaxRanges);
      waiting_.push_back({range.first(), range.count()});
    }
    for (std::uint32_t i = 0; !tasks.rows().empty() && i < range.count(); ++i) rows_[range.first() + i] = tasks.rows(next_row++);
  }
  return ok();
}

void TaskRuns::set_lanes(std::uint64_t lanes, std::uint64_t promoted) {
  std::lock_guard lock(mutex_);
  lanes_ = lanes + promoted;
}

void TaskRuns::drop(const Ranges& ranges) {
  std::lock_guard lock(mutex_);
  for (const wire::pb::TaskRange& range : ranges) drop_locked({range.first(), range.count()});
}

void TaskRuns::drop(std::uint32_t task) {
  std::lock_guard lock(mutex_);
  drop_locked({task, 1});
}

void TaskRuns::drop_locked(const Range& dropped) {
  const std::uint32_t dropped_end = dropped.first + dropped.count;
  rows_.erase(rows_.lower_bound(dropped.first), rows_.lower_bound(dropped_end));
  std::deque<Range> left;
  for (const Range& range : waiting_) {
    const std::uint32_t end = range.first + range.count;
    if (const std::uint32_t before = std::min(end, dropped.first); before > range.first)
      left.push_back({range.first, before - range.first});
    if (const std::uint32_t after = std::max(range.first, dropped_end); after < end) left.push_back({after, end - after});
  }
  waiting_ = std::move(left);
}

std::vector<std::shared_ptr<VirtualThread>> TaskRuns::take_promoted() {
  std::lock_guard lock(mutex_);
  return std::exchange(promoted_, {});
}

bool TaskRuns::busy() const {
  std::lock_guard lock(mutex_);
  return !waiting_.empty() || in_progress_ > 0;
}

std::optional<TaskRuns::Time> TaskRuns::next() const {
  std::lock_guard lock(mutex_);
  return gathered_bytes_ == 0 ? std::nullopt : std::optional(gathered_since_ + kLongest);
}

void TaskRuns::on_tick(Time now) {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    if (now >= gathered_since_ + kLongest) wake = close_frame_locked();
    loop_knows_ = gathered_bytes_ > 0;
  }
  if (wake) outgoing_.wake();
}

std::optional<Bytes> TaskRuns::take_frame() {
  std::lock_guard lock(mutex_);
  if (frames_.empty()) return std::nullopt;
  Bytes frame = std::move(frames_.front());
  frames_.pop_front();
  frame_bytes_ -= frame.size();
  return frame;
}

bool TaskRuns::take_released() {
  std::lock_guard lock(mutex_);
  if (!held_ || frame_bytes_ > kMaxUnsentBytes / 2) return false;
  held_ = false;
  return true;
}

}  // namespace gw::worker
