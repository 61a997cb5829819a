#include <fmt/format.h>

#include "checkers.h"

namespace gw::sim {

Complaint NoticeChecker::on_effect(const job::JobId& job, const Effect& effect) {
  if (seen_.emplace(job, effect.thread(), effect.sequence()).second) return "";
  return fmt::format("effect {} of thread {} was told twice", effect.sequence(), effect.thread());
}

}  // namespace gw::sim
