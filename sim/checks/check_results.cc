#include <fmt/format.h>

#include <cstdlib>

#include "checks/checkers.h"
#include "job/effects/stored_effect.h"

namespace gw::sim {
namespace {

// Format "pure|chain,reading,reading...": the readings must lead from the previous chain to this one.
Complaint check_line(const std::string& line, std::uint64_t& chain) {
  const char* next = line.c_str() + line.find('|') + 1;
  char* end = nullptr;
  const std::uint64_t claimed = std::strtoull(next, &end, 16);
  while (*end == ',') chain = extend_chain(chain, std::strtoull(end + 1, &end, 16));
  return chain == claimed ? "" : fmt::format("'{}' does not follow from the readings before it", line);
}

using Effects = std::map<std::uint64_t, Effect>;
using StoredEffects = std::map<ThreadId, std::map<job::Stream, Effects>>;

Complaint check_sequence(ThreadId id, const job::Stream& stream, const Effects& effects) {
  std::uint64_t sequence = 0;
  for (const auto& [number, effect] : effects)
    if (number != ++sequence)
      return fmt::format("thread {} lacks effect {} in its stream '{}'", id.value(), sequence, wire::describe(stream));
  return "";
}

Complaint check_stream(ThreadId id, const job::Stream& stream, const Effects& effects, const std::vector<std::string>& expected) {
  if (effects.size() != expected.size())
    return fmt::format("thread {} has {} effects in its stream '{}', the undisturbed run {}", id.value(), effects.size(),
                       wire::describe(stream), expected.size());
  std::uint64_t chain = 0;
  for (const auto& [sequence, effect] : effects) {
    if (in_words(effect) != expected[sequence - 1])
      return fmt::format("effect {} of thread {} is '{}', expected '{}'", sequence, id.value(), in_words(effect), expected[sequence - 1]);
    if (!effect.has_output()) continue;
    if (Complaint wrong = check_line(effect.output().bytes(), chain); !wrong.empty()) return wrong;
  }
  return "";
}

// Children that were never forked, because the fate of their parents is excused.
std::set<ThreadId> unborn(const StoredEffects& stored, const ExpectedEffects& expected, const std::function<bool(ThreadId)>& excused) {
  std::set<ThreadId> all;
  for (bool more = true; std::exchange(more, false);)
    for (const auto& [parent, streams] : expected) {
      if (!excused(parent) && !all.contains(parent)) continue;
      for (std::size_t i = 0; i < streams.at(job::kLogStream).size(); ++i)
        if (const ThreadId child = job::child_of(parent, i + 1); !stored.contains(child)) more = all.insert(child).second || more;
    }
  return all;
}

}  // namespace

Complaint check_results(const std::vector<job::EffectEntry>& output, const ExpectedEffects& expected,
                        const std::function<bool(ThreadId)>& excused) {
  StoredEffects stored;
  for (const job::EffectEntry& entry : output) {
    if (entry.header.kind == job::EffectKind::details) continue;
    if (entry.header.kind == job::EffectKind::attempt) {
      stored.erase(entry.header.thread);
      continue;
    }
    auto effect = job::effect_of(entry);
    if (!effect) return effect.error().detail;
    if (!stored[entry.header.thread][entry.header.stream].emplace(entry.header.sequence, *std::move(effect)).second)
      return fmt::format("effect {} of thread {} was stored twice", entry.header.sequence, entry.header.thread.value());
  }
  for (const auto& [id, streams] : stored) {
    for (const auto& [stream, effects] : streams)
      if (Complaint wrong = check_sequence(id, stream, effects); !wrong.empty()) return wrong;
    if (!expected.contains(id) && !excused(id)) return fmt::format("there is a thread {} that the undisturbed run has not", id.value());
  }
  const std::set<ThreadId> missing = unborn(stored, expected, excused);
  for (const auto& [id, streams] : expected) {
    if (excused(id) || missing.contains(id)) continue;
    for (const auto& [stream, lines] : streams)
      if (Complaint wrong = check_stream(id, stream, stored[id][stream], lines); !wrong.empty()) return wrong;
  }
  return "";
}

Complaint check_failures(const std::vector<job::EffectEntry>& output, const FailureRules& rules) {
  std::map<ThreadId, std::uint32_t> repeated;
  std::set<ThreadId> parents;
  wire::pb::JobRecord details;
  for (const job::EffectEntry& entry : output) {
    const ThreadId id = entry.header.thread;
    if (entry.header.kind == job::EffectKind::details && !details.ParseFromString(entry.bytes)) return "the details cannot be read";
    if (entry.header.kind == job::EffectKind::spawn) parents.insert(id);
    if (entry.header.kind == job::EffectKind::attempt && ++repeated[id] > rules.retries)
      return fmt::format("thread {} ran again {} times, and may {}", id.value(), repeated[id], rules.retries);
    if (entry.header.kind != job::EffectKind::end) continue;
    const auto end = job::end_record_of(entry);
    if (!end) return end.error().detail;
    const bool gave_up = end->end().reason() == Effect::End::EXITED && end->end().exit_code() != 0 && repeated[id] < rules.retries;
    if (gave_up && !parents.contains(id))
      return fmt::format("thread {} failed after {} repetitions of {}", id.value(), repeated[id], rules.retries);
  }
  // Several tasks may fail at the same time, so a job stops a little later than it should; far behind it must have stopped.
  constexpr std::uint64_t kFar = 4;
  if (rules.stop_after > 0 && details.failed() >= kFar * rules.stop_after && details.unfinished_tasks().empty())
    return fmt::format("{} tasks failed, and all others ran too: the job should have stopped after {}", details.failed(), rules.stop_after);
  if (rules.stop_after > 0 && !details.unfinished_tasks().empty() && (details.failed() < rules.stop_after || details.sentence().empty()))
    return fmt::format("the job stopped after {} failures: '{}'", details.failed(), details.sentence());
  return "";
}

std::map<ThreadId, std::string> failed_threads(const std::vector<job::EffectEntry>& output) {
  std::map<ThreadId, std::string> failed;
  wire::pb::JobRecord details;
  if (output.empty() || output.back().header.kind != job::EffectKind::details || !details.ParseFromString(output.back().bytes))
    return failed;
  for (const wire::pb::ThreadRecord& thread : details.some())
    if (thread.state() == wire::pb::ThreadRecord::FAILED && !thread.sentence().empty()) failed[ThreadId{thread.id()}] = thread.sentence();
  return failed;
}

}  // namespace gw::sim
