#include "node/jobs/task_reader.h"

#include <algorithm>

#include "node/jobs/output_progress.h"

namespace gw::node {
namespace {

using job::EffectKind;
using job::ThreadId;

std::uint64_t pack(segment::Position position) { return (std::uint64_t{position.number} << 32 | position.offset) + 1; }

segment::Position unpack(std::uint64_t packed) {
  return {.number = static_cast<std::uint32_t>((packed - 1) >> 32), .offset = static_cast<std::uint32_t>(packed - 1)};
}

bool lies_apart(segment::Position from, segment::Position to) {
  return from.number != to.number || to.offset - from.offset >= TaskReader::kStride;
}

bool wanted(const FrameQuery& query, ThreadId thread, std::uint32_t tasks) {
  if (!query.tasks) return true;
  const std::optional<std::uint32_t> task = job::task_of_thread(thread, tasks);
  return task && query.tasks->contains(*task);
}

// Adds the entry to the frames if it is output that the query asks for.
Status take(const FrameQuery& query, const SegmentCursor::Entry& entry, SegmentCursor& cursor, OutputFrames& out) {
  const std::optional<Stream> stream = output_stream_of(entry.effect.kind);
  if (!stream || *stream == Stream::files || entry.effect.bytes == 0) return ok();
  if (query.stream && *query.stream != *stream) return ok();
  GW_TRY(std::string bytes, cursor.bytes(entry));
  out.bytes += bytes.size();
  out.frames.push_back({.thread = entry.effect.thread, .stream = *stream, .bytes = std::move(bytes)});
  return ok();
}

}  // namespace

// --- the index

TaskReader::Thread& TaskReader::slot(Job& job, ThreadId thread) {
  const std::optional<std::uint32_t> task = job::task_of_thread(thread, job.tasks);
  if (!task) return job.forked[thread];
  if (job.by_task.size() <= *task) job.by_task.resize(std::size_t{*task} + 1);
  return job.by_task[*task];
}

const TaskReader::Thread* TaskReader::find(const Job& job, ThreadId thread) {
  if (const std::optional<std::uint32_t> task = job::task_of_thread(thread, job.tasks))
    return *task < job.by_task.size() ? &job.by_task[*task] : nullptr;
  const auto found = job.forked.find(thread);
  return found == job.forked.end() ? nullptr : &found->second;
}

void TaskReader::add(Job& job, const SegmentCursor::Entry& entry) {
  if (entry.effect.kind == EffectKind::details) return;
  const ThreadId id = entry.effect.thread;
  Thread& thread = slot(job, id);
  if (entry.effect.kind == EffectKind::attempt) {  // earlier entries are void
    thread = {};
    job.more.erase(id);
    return;
  }
  if (thread.first == 0) {
    thread.first = pack(entry.at);
  } else {
    const auto marks = job.more.find(id);
    const segment::Position last = marks == job.more.end() ? unpack(thread.first) : marks->second.back();
    if (lies_apart(last, entry.at)) job.more[id].push_back(entry.at);
  }
  if (entry.effect.kind == EffectKind::end) thread.end = pack(entry.at);
}

void TaskReader::make_room() {
  std::size_t tasks = 0;
  auto kept = jobs_.begin();
  for (; kept != jobs_.end(); ++kept) {
    tasks += kept->tasks + kept->forked.size();
    if (tasks > kMaxTasks && kept != jobs_.begin()) break;
  }
  jobs_.erase(kept, jobs_.end());
}

Result<TaskReader::Job*> TaskReader::indexed(const Source& source) {
  const auto found = std::ranges::find(jobs_, source.job, &Job::id);
  if (found != jobs_.end()) {
    jobs_.splice(jobs_.begin(), jobs_, found);
  } else {
    jobs_.push_front({.id = source.job, .tasks = source.tasks});
    make_room();
  }
  Job& job = jobs_.front();
  if (job.scanned > source.end) job = {.id = source.job, .tasks = source.tasks};  // the output was cut after a failure
  SegmentCursor cursor(segment::folder_of(folder_, job.id), job.scanned, source.end);
  for (;;) {
    GW_TRY(const std::optional<SegmentCursor::Entry> entry, cursor.next());
    if (!entry) return &job;
    job.scanned = cursor.position();
    add(job, *entry);
  }
}

void TaskReader::forget(const job::JobId& id) {
  std::erase_if(jobs_, [&](const Job& one) { return one.id == id; });
}

// --- ends

Status TaskReader::complete(const Source& source, std::vector<ThreadView>& tasks) {
  using State = ThreadView::State;
  GW_TRY(const Job* job, indexed(source));
  SegmentCursor cursor(segment::folder_of(folder_, source.job), {}, job->scanned);
  for (ThreadView& view : tasks) {
    const Thread* thread = find(*job, view.id);
    if (thread == nullptr || thread->end == 0 || (view.state != State::ended && view.state != State::failed)) continue;
    cursor.seek(unpack(thread->end));
    GW_TRY(const std::optional<SegmentCursor::Entry> entry, cursor.next());
    if (!entry) continue;
    GW_TRY(std::string bytes, cursor.bytes(*entry));
    GW_TRY(const wire::pb::EndRecord end, job::end_record_of({entry->effect, std::move(bytes)}));
    view.exit_code = job::exit_code_of(end.end());
    view.sentence = end.end().sentence();
    if (!end.host().empty()) view.host = job::PeerId::from(end.host());
    view.attempts = end.attempts();
    view.ended_at = job::Time(static_cast<std::int64_t>(end.ended_at_ns()));
    view.started_at = view.ended_at - job::Time(static_cast<std::int64_t>(std::min(end.run_time_ns(), end.ended_at_ns())));
  }
  return ok();
}

// --- output

Result<OutputFrames> TaskReader::frames(const Source& source, const FrameQuery& query) {
  return query.order == FrameQuery::Order::arrival ? by_arrival(source, query) : by_task(source, query);
}

Result<OutputFrames> TaskReader::by_arrival(const Source& source, const FrameQuery& query) const {
  const segment::Position from = query.from == 0 ? segment::Position() : unpack(query.from);
  OutputFrames out{.next = pack(from)};
  SegmentCursor cursor(segment::folder_of(folder_, source.job), from, source.end);
  while (out.bytes < query.limit) {
    GW_TRY(const std::optional<SegmentCursor::Entry> entry, cursor.next());
    if (!entry) {
      out.end = source.over;
      break;
    }
    if (wanted(query, entry->effect.thread, source.tasks)) GW_TRY_VOID(take(query, *entry, cursor, out));
    out.next = pack(cursor.position());
    if (!out.frames.empty()) out.frames.back().next = out.next;
  }
  return out;
}

// The output of all threads in their order, as far as it is there: a thread that has not ended holds back nothing.
Result<OutputFrames> TaskReader::by_task(const Source& source, const FrameQuery& query) {
  GW_TRY(const Job* job, indexed(source));
  OutputFrames out{.next = query.from};
  SegmentCursor cursor(segment::folder_of(folder_, source.job), {}, job->scanned);
  for (; out.next < job->by_task.size() && out.bytes < query.limit; ++out.next) {
    const ThreadId id = job::thread_of_task(static_cast<std::uint32_t>(out.next), job->tasks);
    if (wanted(query, id, job->tasks)) GW_TRY_VOID(append_thread(*job, id, query, cursor, out));
  }
  if (out.next < job->by_task.size()) return out;
  auto forked = job->forked.begin();
  std::advance(forked, std::min<std::size_t>(out.next - job->by_task.size(), job->forked.size()));
  for (; forked != job->forked.end() && out.bytes < query.limit; ++forked, ++out.next)
    if (!query.tasks) GW_TRY_VOID(append_thread(*job, forked->first, query, cursor, out));
  out.end = forked == job->forked.end();
  return out;
}

Status TaskReader::append_thread(const Job& job, ThreadId id, const FrameQuery& query, SegmentCursor& cursor, OutputFrames& out) const {
  const Thread* thread = find(job, id);
  if (thread == nullptr || thread->first == 0) return ok();
  std::vector<segment::Position> marks{unpack(thread->first)};
  if (const auto more = job.more.find(id); more != job.more.end()) marks.insert(marks.end(), more->second.begin(), more->second.end());
  for (const segment::Position& mark : marks) {
    cursor.seek(mark);
    for (;;) {
      GW_TRY(const std::optional<SegmentCursor::Entry> entry, cursor.next());
      if (!entry || lies_apart(mark, entry->at)) break;
      if (entry->effect.thread != id) continue;
      if (entry->effect.kind == EffectKind::end) return ok();
      GW_TRY_VOID(take(query, *entry, cursor, out));
    }
  }
  return ok();
}

}  // namespace gw::node
