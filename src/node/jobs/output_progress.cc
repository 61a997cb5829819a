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

void OutputProgress::on_over() { over_ = true; }

void OutputProgress::advance() {
  for (; open_ < tasks_; ++open_) {
    const auto written = threads_.find(job::thread_of_task(open_, tasks_));
    if (written == threads_.end() || !written->second.ended) return;
    for (std::size_t stream = 0; stream < kStreams; ++stream) closed_[stream] += written->second.size[stream];
    threads_.erase(written);
  }
}

std::uint64_t OutputProgress::final_size(Stream stream) const {
  if (over_) return all_[slot(stream)];
  const auto open = open_ < tasks_ ? threads_.find(job::thread_of_task(open_, tasks_)) : threads_.end();
  return closed_[slot(stream)] + (open == threads_.end() ? 0 : open->second.size[slot(stream)]);
}

}  // namespace gw::node
