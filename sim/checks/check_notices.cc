#include <fmt/format.h>

#include "checks/checkers.h"

namespace gw::sim {

Complaint NoticeChecker::on_effect(const job::JobId& job, const Effect& effect) {
  const job::Stream stream = wire::stream_of(effect);
  if (seen_.emplace(job, effect.thread(), stream, effect.sequence()).second) return "";
  return fmt::format("effect {} of thread {} in its stream '{}' was told twice", effect.sequence(), effect.thread(),
                     wire::describe(stream));
}

void NoticeChecker::on_repeated(const job::JobId& job, ThreadId thread) {
  std::erase_if(seen_, [&](const auto& seen) { return std::get<0>(seen) == job && std::get<1>(seen) == thread.value(); });
}

}  // namespace gw::sim
