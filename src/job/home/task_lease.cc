#include "job/home/task_lease.h"

#include <algorithm>

namespace gw::job {
namespace {

double seconds(Time time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

std::uint32_t TaskLease::wanted(const Config& config, std::uint32_t slots, std::uint64_t share) const {
  if (slots == 0 || batches_.size() >= config.unacknowledged) return 0;
  if (!config.prefetch) return slots - static_cast<std::uint32_t>(std::min<std::size_t>(slots, held_.size()));
  std::uint64_t target = std::max<std::uint64_t>(window_, std::uint64_t{config.first} * slots);
  target = std::min({target, std::max<std::uint64_t>(share + held_.size(), slots), std::uint64_t{config.window}});
  // Batches of half a window: few messages, and a host that is never without tasks.
  return held_.size() > target / 2 ? 0 : static_cast<std::uint32_t>(target - held_.size());
}

JobMessage TaskLease::add(Time now, const Config& config, JobMessage::TaskBatch batch) {
  batch.set_number(next_batch_++);
  if (batches_.empty()) resend_at_ = now + config.retry;
  batches_.push_back(batch);
  JobMessage message;
  *message.mutable_task_batch() = std::move(batch);
  return message;
}

JobMessage TaskLease::give(Time now, const Config& config, std::uint64_t claim, TaskSpan tasks) {
  held_.add(tasks);
  if (period_began_ == kNever) {
    period_began_ = now;
    period_results_ = 0;
  }
  JobMessage::TaskBatch batch;
  batch.set_claim(claim);
  batch.mutable_tasks()->set_first(tasks.first);
  batch.mutable_tasks()->set_count(tasks.count);
  return add(now, config, std::move(batch));
}

JobMessage TaskLease::recall(Time now, const Config& config, std::uint64_t claim) {
  held_.clear();
  JobMessage::TaskBatch batch;
  batch.set_claim(claim);
  batch.set_recall(true);
  return add(now, config, std::move(batch));
}

std::vector<JobMessage> TaskLease::resend(Time now, const Config& config) {
  std::vector<JobMessage> messages;
  if (now < next_due()) return messages;
  resend_at_ = now + config.retry;
  for (const JobMessage::TaskBatch& batch : batches_) *messages.emplace_back().mutable_task_batch() = batch;
  return messages;
}

bool TaskLease::on_report(const JobMessage::TaskReport& report) {
  while (!batches_.empty() && batches_.front().number() <= report.batches()) batches_.pop_front();
  if (report.number() != reports_ + 1) return false;
  ++reports_;
  return true;
}

void TaskLease::on_results(Time now, const Config& config, std::uint64_t results) {
  period_results_ += results;
  if (const Time passed = now - period_began_; period_began_ != kNever && passed >= config.period) {
    const double rate = static_cast<double>(period_results_) / seconds(passed);
    rate_ = rate_ == 0 ? rate : (rate_ + rate) / 2;
    period_began_ = now;
    period_results_ = 0;
  }
  if (held_.empty()) period_began_ = kNever;  // the time until the next batch comes says nothing about the host
  const std::uint64_t doubled = 2 * std::max<std::uint64_t>(window_, std::max<std::uint64_t>(results, config.first));
  const auto led = rate_ == 0 ? config.window : static_cast<std::uint64_t>(rate_ * seconds(config.lead));
  window_ = static_cast<std::uint32_t>(std::min({doubled, led, std::uint64_t{config.window}}));
}

JobMessage reports_stored_message(std::uint64_t claim, std::uint64_t reports) {
  JobMessage message;
  message.mutable_task_batch()->set_claim(claim);
  message.mutable_task_batch()->set_reports(reports);
  return message;
}

}  // namespace gw::job
