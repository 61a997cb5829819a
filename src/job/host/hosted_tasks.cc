#include "job/host/hosted_tasks.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "wire/messages/peer_messages.h"
#include "wire/messages/streams.h"

namespace gw::job {
namespace {

using wire::pb::FromWorker;
using wire::pb::ToWorker;

void add_range(google::protobuf::RepeatedPtrField<wire::pb::TaskRange>& list, TaskSpan span) {
  wire::pb::TaskRange& range = *list.Add();
  range.set_first(span.first);
  range.set_count(span.count);
}

}  // namespace

// --- home

void HostedTasks::on_batch(Time now, const JobMessage::TaskBatch& batch, const std::optional<std::string>& refused, Actions& out) {
  if (batch.session() < session_) return;
  if (batch.session() > session_) begin_session(batch.session(), out);
  while (!reports_.empty() && reports_.front().report.number() <= batch.reports()) {
    unstored_bytes_ -= reports_.front().bytes;
    reports_.pop_front();
    resend_at_ = now + config_.retry;
  }
  if (batch.number() == batches_ + 1) {
    ++batches_;
    if (batch.recall()) {
      GW_REACHED("host: tasks were recalled");
      stop_all(out);
    }
    const TaskSpan span{batch.tasks().first(), batch.tasks().count()};
    const bool too_many = queued_.size() + in_worker_.size() + span.count > config_.held;
    if (span.count > 0 && (too_many || refused)) {
      GW_REACHED("host: a batch of tasks was returned");
      TaskSet returned;
      returned.add(span);
      add_returned(now, returned, refused.value_or("this host has more tasks of the job than it keeps"), out);
    } else {
      queued_.add(span);
    }
  }
  if (batch.number() > 0 && acknowledge_at_ == kNever) acknowledge_at_ = now + config_.acknowledge;
}

// A home that has started again knows nothing of the tasks and reports of its earlier boot.
void HostedTasks::begin_session(std::uint64_t session, Actions& out) {
  if (session_ != 0) GW_REACHED("host: the tasks of an earlier boot of home were forgotten");
  session_ = session;
  stop_all(out);
  while (const std::optional<TaskSpan> promoted = promoted_.last(1)) drop(promoted->first, out);
  reports_.clear();
  unstored_bytes_ = 0;
  batches_ = 0;
  next_report_ = 1;
}

void HostedTasks::adopt(std::uint32_t task) { promoted_.remove(task); }

bool HostedTasks::drop(std::uint32_t task, Actions& out) {
  if (!promoted_.remove(task)) return false;
  ToWorker frame;
  frame.mutable_drop()->set_thread(environment_.code.manifest()->thread_of(task).value());
  environment_.code.tell(std::move(frame), {}, out);
  return true;
}

// Home hears of the tasks in the worker as returned, so the worker must not run them any more. Promoted ones are home's to decide about.
void HostedTasks::forget(std::uint32_t task, Actions& out) {
  if (drop(task, out) || queued_.remove(task) || !in_worker_.remove(task)) return;
  ToWorker frame;
  add_range(*frame.mutable_drop_tasks()->mutable_ranges(), {task, 1});
  environment_.code.tell(std::move(frame), {}, out);
}

void HostedTasks::stop_all(Actions& out) {
  if (!in_worker_.empty()) {
    ToWorker frame;
    for (const TaskSpan& span : in_worker_.spans()) add_range(*frame.mutable_drop_tasks()->mutable_ranges(), span);
    environment_.code.tell(std::move(frame), {}, out);
  }
  in_worker_.clear();
  queued_.clear();
}

void HostedTasks::return_all(Time now, const std::string& why, Actions& out) {
  if (queued_.empty() && in_worker_.empty()) return;
  GW_REACHED("host: all tasks were returned");
  TaskSet returned = queued_;
  for (const TaskSpan& span : in_worker_.spans()) returned.add(span);
  stop_all(out);
  add_returned(now, returned, why, out);
}

void HostedTasks::lose_if(const std::function<bool(std::uint32_t)>& needs_it, Time now, const std::string& why, Actions& out) {
  TaskSet lost;
  for (const TaskSpan& span : queued_.spans())
    for (std::uint32_t i = 0; i < span.count; ++i)
      if (needs_it(span.first + i)) lost.add(span.first + i);
  for (const TaskSpan& span : lost.spans()) queued_.remove(span);
  add_lost(now, lost, why, out);
}

// The others are returned: they waited behind these.
void HostedTasks::lose_running(Time now, const std::string& why, Actions& out) {
  const TaskSet lost = in_worker_;
  const TaskSet returned = queued_;
  stop_all(out);
  add_lost(now, lost, why, out);
  add_returned(now, returned, why, out);
}

// --- reports

void HostedTasks::add_returned(Time now, const TaskSet& tasks, const std::string& why, Actions& out) {
  for (const TaskSpan& span : tasks.spans()) {
    add_range(*open_.mutable_returned(), span);
    if (open_.returned_size() < wire::kMaxTaskList) continue;
    open_.set_failure(why);
    close_report(now, out);
  }
  if (open_.returned().empty()) return;
  open_.set_failure(why);
  close_report(now, out);
}

void HostedTasks::add_lost(Time now, const TaskSet& tasks, const std::string& why, Actions& out) {
  for (const TaskSpan& span : tasks.spans())
    for (std::uint32_t i = 0; i < span.count; ++i) {
      open_.add_lost(span.first + i);
      if (open_.lost_size() < wire::kMaxTaskList) continue;
      open_.set_failure(why);
      close_report(now, out);
    }
  if (open_.lost().empty()) return;
  open_.set_failure(why);
  close_report(now, out);
}

void HostedTasks::close_report(Time now, Actions& out) {
  open_.set_number(next_report_++);
  const std::size_t bytes = open_.ByteSizeLong();
  unstored_bytes_ += bytes;
  if (reports_.empty()) resend_at_ = now + config_.retry;
  reports_.push_back({std::exchange(open_, {}), bytes});
  send(reports_.back().report, out);
}

void HostedTasks::send(const JobMessage::TaskReport& report, Actions& out) {
  JobMessage message;
  *message.mutable_task_report() = report;
  message.mutable_task_report()->set_claim(environment_.claim);
  message.mutable_task_report()->set_batches(batches_);
  message.mutable_task_report()->set_session(session_);
  acknowledge_at_ = kNever;
  out.send(environment_.home, environment_.job, std::move(message));
}

void HostedTasks::on_tick(Time now, Actions& out) {
  if (!reports_.empty() && now >= resend_at_) {
    GW_REACHED("host: a report of tasks was repeated");
    resend_at_ = now + config_.retry;
    for (std::size_t i = 0; i < std::min(reports_.size(), config_.repeated_reports); ++i) send(reports_[i].report, out);
  }
  if (now >= acknowledge_at_) send({}, out);
}

// --- the worker

// The worker has enough to be busy until the next results come, and no more: what it has not begun can go back to home at once.
void HostedTasks::feed(Time now, std::uint32_t lanes, More more, Actions& out) {
  if (!environment_.code.ready()) return;
  refuse_foreign_tasks(out);
  while (more == More::yes && lanes > 0 && unstored_bytes_ <= config_.unstored_bytes) {
    ToWorker frame;
    give_tasks(now, frame, out);
    if (open_.results_size() > 0) close_report(now, out);  // of tasks that could not be started
    if (!frame.has_run_tasks()) break;
    tell_tasks(lanes, std::move(frame), out);
  }
  // A promotion, told or not, takes a lane from the worker: the sum tells whether it has to be told anything.
  if (!in_worker_.empty() && lanes + promotions_ != lanes_told_) tell_tasks(lanes, {}, out);
}

void HostedTasks::tell_tasks(std::uint32_t lanes, ToWorker frame, Actions& out) {
  lanes_told_ = lanes + promotions_;
  frame.mutable_run_tasks()->set_lanes(lanes);
  frame.mutable_run_tasks()->set_promoted(GW_BUG(63) ? promotions_ + 1 : promotions_);
  environment_.code.tell(std::move(frame), {}, out);
}

void HostedTasks::give_tasks(Time now, ToWorker& frame, Actions& out) {
  if (!environment_.code.manifest()->has_rows()) {
    while (in_worker_.size() < config_.in_worker) {
      const std::optional<TaskSpan> span = queued_.take_first(config_.in_worker - in_worker_.size());
      if (!span) return;
      in_worker_.add(*span);
      add_range(*frame.mutable_run_tasks()->mutable_ranges(), *span);
    }
    return;
  }
  for (std::size_t bytes = 0; in_worker_.size() < config_.rows_in_worker && bytes < config_.frame_rows;) {
    const std::optional<TaskSpan> one = queued_.take_first(1);
    if (!one || !give_task_with_row(now, one->first, frame, out)) return;
    if (frame.has_run_tasks()) bytes += frame.run_tasks().rows().rbegin()->ByteSizeLong();
  }
}

// False: its row is on its way, or cannot come.
bool HostedTasks::give_task_with_row(Time now, std::uint32_t task, ToWorker& frame, Actions& out) {
  const auto row = environment_.code.row_of(now, task, out);
  if (!row && row.error().kind == Kind::overloaded) {
    queued_.add(task);
    return_all(now, row.error().detail, out);
    return false;
  }
  if (!row) {
    fail_task(now, task, row.error().detail, out);
    return true;
  }
  if (*row == nullptr) {
    queued_.add(task);
    return false;
  }
  in_worker_.add(task);
  auto& ranges = *frame.mutable_run_tasks()->mutable_ranges();
  if (!ranges.empty() && ranges.rbegin()->first() + ranges.rbegin()->count() == task) {
    ranges.rbegin()->set_count(ranges.rbegin()->count() + 1);
  } else {
    add_range(ranges, {task, 1});
  }
  *frame.mutable_run_tasks()->add_rows() = **row;
  return true;
}

// The description of the task is at fault: no host could run it.
void HostedTasks::fail_task(Time now, std::uint32_t task, const std::string& why, Actions& out) {
  GW_REACHED("host: the rows of tasks could not be read");
  wire::pb::TaskResult& result = *open_.add_results();
  result.set_task(task);
  wire::pb::Effect& effect = *result.add_effects();
  effect.set_thread(environment_.code.manifest()->thread_of(task).value());
  effect.set_epoch(1);
  effect.set_sequence(1);
  effect.mutable_end()->set_reason(wire::pb::Effect::End::TRAPPED);
  effect.mutable_end()->set_sentence("it could not be started: " + why);
  wire::set_stream(effect);
  if (open_.results_size() >= wire::kMaxTaskList) close_report(now, out);
}

// Home may send numbers before this host has the manifest by which they are checked.
void HostedTasks::refuse_foreign_tasks(Actions& out) {
  const std::uint32_t most = environment_.code.manifest()->on_task_plane() ? tasks() : 0;
  const std::optional<TaskSpan> last = queued_.last(1);
  if (!last || last->first < most) return;
  queued_.remove({most, wire::kMaxTasks - most});
  out.notify(PeerRefused{environment_.home, fmt::format("it sent task {} of a job of {} tasks", last->first, most)});
}

void HostedTasks::on_worker_ready(Actions& out) {
  const Manifest& manifest = *environment_.code.manifest();
  if (!manifest.on_task_plane()) return;
  ToWorker frame;
  frame.mutable_task_setup()->set_tasks(manifest.tasks());
  frame.mutable_task_setup()->set_promote_after_ns(manifest.content().policy().promote_after_ns());
  *frame.mutable_task_setup()->mutable_values() = manifest.content().array().values();
  environment_.code.tell(std::move(frame), {{.form = Attachment::Form::given, .bytes = manifest.content().config().SerializeAsString()}},
                         out);
}

Status HostedTasks::on_results(Time now, const FromWorker::TaskResults& results, Actions& out) {
  std::size_t bytes = 0;
  for (const wire::pb::TaskResult& result : results.results()) {
    // A task that was recalled may have ended before the worker heard of it.
    if (result.task() >= tasks()) return fail(Kind::invalid, "the worker sent a result of task {}, which does not exist", result.task());
    if (result.effects(0).thread() != environment_.code.manifest()->thread_of(result.task()).value())
      return fail(Kind::invalid, "the worker sent the effects of another thread as the result of task {}", result.task());
    if (!in_worker_.remove(result.task())) continue;
    const std::size_t size = result.ByteSizeLong();
    if (open_.results_size() > 0 && (bytes + size > config_.report_bytes || open_.results_size() >= wire::kMaxTaskList)) {
      close_report(now, out);
      bytes = 0;
    }
    bytes += size;
    *open_.add_results() = result;
  }
  if (open_.results_size() > 0) close_report(now, out);
  return ok();
}

Status HostedTasks::on_promoted(Time now, std::uint32_t task, Actions& out) {
  if (task >= tasks()) return fail(Kind::invalid, "the worker promoted task {}, which does not exist", task);
  ++promotions_;
  if (!in_worker_.remove(task)) {
    // The task was recalled, and the worker heard of that too late to stop it as a task.
    ToWorker frame;
    frame.mutable_drop()->set_thread(environment_.code.manifest()->thread_of(task).value());
    environment_.code.tell(std::move(frame), {}, out);
    return ok();
  }
  GW_REACHED("host: a task became a thread");
  promoted_.add(task);
  open_.add_promoted(task);
  close_report(now, out);
  return ok();
}

void HostedTasks::on_not_made(Time now, ThreadId thread, const std::string& why, Actions& out) {
  const std::optional<std::uint32_t> task = task_of_thread(thread, tasks());
  if (!task || !in_worker_.remove(*task)) return;
  TaskSet returned;
  returned.add(*task);
  add_returned(now, returned, why, out);
}

void HostedTasks::on_worker_died(Time now, std::span<const std::uint32_t> running, const std::string& why, bool broken, Actions& out) {
  TaskSet lost;
  for (const std::uint32_t task : running)
    if (in_worker_.contains(task)) lost.add(task);
  // Promoted tasks that home has not taken yet: home places them as threads here, and hears that they are gone.
  promoted_.clear();
  for (const TaskSpan& span : in_worker_.spans()) queued_.add(span);
  in_worker_.clear();
  lanes_told_ = promotions_ = 0;
  if (broken) return return_all(now, why, out);
  if (lost.empty()) return;
  GW_REACHED("host: tasks were lost with their worker");
  for (const TaskSpan& span : lost.spans()) queued_.remove(span);
  add_lost(now, lost, why, out);
}

}  // namespace gw::job
