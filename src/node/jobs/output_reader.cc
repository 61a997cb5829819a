#include "node/jobs/output_reader.h"

#include <algorithm>

namespace gw::node {
namespace {

using job::ThreadId;

bool is_far(const segment::Position& from, const segment::Position& to) {
  return from.number != to.number || to.offset - from.offset >= OutputReader::kStride;
}

}  // namespace

OutputReader::Job& OutputReader::job(const job::JobId& id) {
  const auto found = std::ranges::find(jobs_, id, &Job::id);
  if (found != jobs_.end()) {
    jobs_.splice(jobs_.begin(), jobs_, found);
  } else {
    jobs_.push_front({.id = id});
    if (jobs_.size() > kMaxJobs) jobs_.pop_back();
  }
  return jobs_.front();
}

void OutputReader::forget(const job::JobId& id) {
  std::erase_if(jobs_, [&](const Job& one) { return one.id == id; });
}

// A run of the thread has failed: what it has printed is void. None of it was final, so no reader has seen it.
void OutputReader::drop(Job& job, ThreadId id) {
  const auto found = job.threads.find(id);
  if (found == job.threads.end()) return;
  for (std::size_t stream = 0; stream < kStreams; ++stream) job.size[stream] -= found->second.size[stream];
  job.threads.erase(found);
}

Status OutputReader::catch_up(Job& job, segment::Position end) const {
  SegmentCursor cursor(segment::folder_of(folder_, job.id), job.scanned, end);
  for (;;) {
    GW_TRY(const std::optional<SegmentCursor::Entry> entry, cursor.next());
    if (!entry) return ok();
    job.scanned = cursor.position();
    if (entry->effect.kind == job::EffectKind::attempt) drop(job, entry->effect.thread);
    const auto stream = output_stream_of(entry->effect.kind);
    if (!stream || entry->effect.bytes == 0) continue;
    Thread& thread = job.threads[entry->effect.thread];
    if (thread.marks.empty() || is_far(thread.marks.back().at, entry->at)) thread.marks.push_back({entry->at, thread.size});
    thread.size[slot(*stream)] += entry->effect.bytes;
    job.size[slot(*stream)] += entry->effect.bytes;
  }
}

// Bytes `from` to `to` of one thread. The entries between two marks lie within kStride of the first one.
Status OutputReader::append(const Job& job, ThreadId id, const Thread& thread, const Request& request, std::uint64_t from, std::uint64_t to,
                            std::string& out) const {
  const std::size_t stream = slot(request.stream);
  auto mark = std::ranges::upper_bound(thread.marks, from, {}, [&](const Mark& one) { return one.before[stream]; });
  if (mark != thread.marks.begin()) --mark;
  for (; mark != thread.marks.end() && mark->before[stream] < to; ++mark) {
    std::uint64_t at = mark->before[stream];
    SegmentCursor cursor(segment::folder_of(folder_, job.id), mark->at, job.scanned);
    while (at < to) {
      GW_TRY(const std::optional<SegmentCursor::Entry> entry, cursor.next());
      if (!entry || is_far(mark->at, entry->at)) break;
      if (entry->effect.thread != id || output_stream_of(entry->effect.kind) != request.stream) continue;
      const std::uint64_t end = at + entry->effect.bytes;
      if (end > from) {
        GW_TRY(const std::string bytes, cursor.bytes(*entry));
        const std::uint64_t skip = std::max(from, at) - at;
        out.append(bytes, skip, std::min(end, to) - at - skip);
      }
      at = end;
    }
  }
  return ok();
}

Result<OutputPiece> OutputReader::read(const Request& request) {
  Job& job = this->job(request.job);
  if (job.scanned > request.end) job = {.id = request.job};  // the output was cut after a failure
  GW_TRY_VOID(catch_up(job, request.end));
  const std::size_t stream = slot(request.stream);
  const std::uint64_t all = job.size[stream];
  const std::uint64_t size = request.over ? all : std::min(all, request.final_size);
  const std::uint64_t to = request.offset + std::min(request.limit, size - std::min(size, request.offset));
  OutputPiece piece{.bytes = "", .end = request.over && to >= size};
  // Ids of tasks ascend with their numbers, and those of forked threads come after them.
  Position at = job.last_read[stream];
  if (request.offset < at.begin) at = {};
  for (auto thread = job.threads.lower_bound(at.thread); thread != job.threads.end() && at.begin < to; ++thread) {
    const std::uint64_t end = at.begin + thread->second.size[stream];
    if (end > request.offset) {
      const std::uint64_t from = std::max(request.offset, at.begin) - at.begin;
      GW_TRY_VOID(append(job, thread->first, thread->second, request, from, std::min(end, to) - at.begin, piece.bytes));
    }
    if (end > to || (end == to && !request.over)) break;  // it may print more
    at = {.thread = ThreadId{thread->first.value() + 1}, .begin = end};
  }
  // Output before this position does not change any more, so the next read may begin here. A reader may ask for more than is final.
  if (request.offset <= size) job.last_read[stream] = at;
  return piece;
}

Result<wire::pb::JobRecord> OutputReader::details(const job::JobId& job, segment::Position end, std::uint32_t bytes) const {
  const std::uint64_t size = std::uint64_t{bytes} + segment::kHeaderBytes;
  const auto damaged = [] { return fail(Kind::corrupt, "the details of the job are damaged on this disk"); };
  if (end.offset < segment::Position().offset + size) return damaged();
  SegmentCursor cursor(segment::folder_of(folder_, job), {end.number, end.offset - static_cast<std::uint32_t>(size)}, end);
  GW_TRY(const std::optional<SegmentCursor::Entry> entry, cursor.next());
  wire::pb::JobRecord record;
  if (!entry || entry->effect.kind != job::EffectKind::details) return damaged();
  GW_TRY(const std::string encoded, cursor.bytes(*entry));
  if (!record.ParseFromString(encoded)) return damaged();
  return record;
}

}  // namespace gw::node
