#include <fmt/format.h>

#include <cstdlib>

#include "checkers.h"
#include "job/stored_effect.h"

namespace gw::sim {
namespace {

// "pure|chain,reading,reading...": the readings must lead from the chain before to this one.
Complaint check_line(const std::string& line, std::uint64_t& chain) {
  const char* next = line.c_str() + line.find('|') + 1;
  char* end = nullptr;
  const std::uint64_t claimed = std::strtoull(next, &end, 16);
  while (*end == ',') chain = extend_chain(chain, std::strtoull(end + 1, &end, 16));
  return chain == claimed ? "" : fmt::format("'{}' does not follow from the readings before it", line);
}

Complaint check_thread(ThreadId id, const std::map<std::uint64_t, Effect>& effects, const std::vector<std::string>& expected) {
  if (effects.size() != expected.size())
    return fmt::format("thread {} has {} effects, the undisturbed run {}", id.value(), effects.size(), expected.size());
  std::uint64_t chain = 0;
  std::uint64_t sequence = 0;
  for (const auto& [number, effect] : effects) {
    if (number != ++sequence) return fmt::format("thread {} lacks effect {}", id.value(), sequence);
    if (in_words(effect) != expected[sequence - 1])
      return fmt::format("effect {} of thread {} is '{}', expected '{}'", sequence, id.value(), in_words(effect), expected[sequence - 1]);
    if (!effect.has_output()) continue;
    if (Complaint wrong = check_line(effect.output().bytes(), chain); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace

Complaint check_results(const std::vector<job::EffectEntry>& output, const std::map<ThreadId, std::vector<std::string>>& expected) {
  std::map<ThreadId, std::map<std::uint64_t, Effect>> stored;
  for (const job::EffectEntry& entry : output) {
    auto effect = job::effect_of(entry);
    if (!effect) return effect.error().detail;
    if (!stored[entry.header.thread].emplace(entry.header.sequence, *std::move(effect)).second)
      return fmt::format("effect {} of thread {} was stored twice", entry.header.sequence, entry.header.thread.value());
  }
  for (const auto& [id, effects] : stored)
    if (!expected.contains(id)) return fmt::format("there is a thread {} that the undisturbed run has not", id.value());
  for (const auto& [id, lines] : expected)
    if (Complaint wrong = check_thread(id, stored[id], lines); !wrong.empty()) return wrong;
  return "";
}

}  // namespace gw::sim
