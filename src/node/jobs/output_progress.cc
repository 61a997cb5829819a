#include "node/jobs/output_progress.h"

namespace gw::node {

using job::ThreadId;

std::optional<Stream> output_stream_of(job::EffectKind kind) {
  switch (kind) {
    case job::EffectKind::output:
      return Stream::output;
    case job::EffectKind::errors:
      return Stream::errors;
    case job::EffectKind::file:
      return Stream::files;
    default:
      return std::nullopt;
  }
}

OutputProgress::OutputProgress(std::uint32_t tasks, std::vector<job::TaskSpan> selected, Unfinished unfinished)
    : tasks_(tasks), selected_(std::move(selected)), unfinished_(unfinished) {
  skip_unselected();
}

// Lets open_ be a task that the job has. False: there is none left.
bool OutputProgress::skip_unselected() {
  for (; span_ < selected_.size(); ++span_) {
    const job::TaskSpan& span = selected_[span_];
    if (open_ < span.first) open_ = span.first;
    if (open_ < span.first + span.count) return true;
  }
  if (!selected_.empty()) open_ = tasks_;
  return open_ < tasks_;
}

void OutputProgress::add(ThreadId thread, job::EffectKind kind, std::uint64_t bytes) {
  if (kind == job::EffectKind::end) return on_ended(thread);
  const auto stream = output_stream_of(kind);
  if (!stream) return;
  threads_[thread].size[slot(*stream)] += bytes;
  all_[slot(*stream)] += bytes;
}

void OutputProgress::on_ended(ThreadId thread) {
  threads_[thread].ended = true;
  advance();
}

void OutputProgress::on_repeated(ThreadId thread) {
  const auto written = threads_.find(thread);
  if (written == threads_.end()) return;
  for (std::size_t stream = 0; stream < kStreams; ++stream) all_[stream] -= written->second.size[stream];
  threads_.erase(written);
}

void OutputProgress::on_over() { over_ = true; }

void OutputProgress::advance() {
  for (; skip_unselected(); ++open_) {
    const auto written = threads_.find(job::thread_of_task(open_, tasks_));
    if (written == threads_.end() || !written->second.ended) return;
    for (std::size_t stream = 0; stream < kStreams; ++stream) closed_[stream] += written->second.size[stream];
    threads_.erase(written);
  }
}

std::uint64_t OutputProgress::final_size(Stream stream) const {
  if (over_) return all_[slot(stream)];
  if (unfinished_ == Unfinished::may_be_void) return closed_[slot(stream)];
  const auto open = open_ < tasks_ ? threads_.find(job::thread_of_task(open_, tasks_)) : threads_.end();
  return closed_[slot(stream)] + (open == threads_.end() ? 0 : open->second.size[slot(stream)]);
}

}  // namespace gw::node
