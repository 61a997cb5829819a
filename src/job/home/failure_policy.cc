#include "job/home/failure_policy.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/planted_bug.h"

namespace gw::job {

bool FailurePolicy::is_failure(const HomeThread& thread, const Effect::End& end) const {
  const bool is_task = manifest_.tasks() > 1 && !thread.forked;
  return end.reason() != Effect::End::EXITED || (is_task && end.exit_code() != 0);
}

bool FailurePolicy::runs_again(const HomeThread& thread, const Effect::End& end, Spawned spawned) const {
  return is_failure(thread, end) && !thread.forked && spawned == Spawned::nothing &&
         thread.failed_runs < manifest_.content().policy().retries();
}

std::optional<std::string> FailurePolicy::stops(std::uint64_t failed, std::uint64_t unfinished) const {
  const std::uint32_t most = manifest_.content().policy().stop_after_failures();
  if (most == 0 || failed < most || unfinished == 0 || GW_BUG(122)) return std::nullopt;
  return fmt::format("stopped because {} of its tasks failed and at most {} may; {} did not run to an end", failed, most - 1, unfinished);
}

std::optional<std::string> FailurePolicy::out_of_time(Time age, std::uint64_t unfinished) const {
  const Time limit(static_cast<std::int64_t>(manifest_.content().policy().job_time_ns()));
  if (limit == Time(0) || age < limit || unfinished == 0) return std::nullopt;
  return fmt::format("stopped because its job time of {} s is over; {} of its threads and tasks did not run to an end",
                     std::chrono::duration<double>(limit).count(), unfinished);
}

EndFacts end_facts_of(Time now, const HomeThread& thread) {
  return {.host = thread.host.value_or(PeerId()),
          .ended_at = now,
          .run_time = now - std::min(now, thread.placed_first),
          .attempts = 1 + thread.failures + thread.failed_runs};
}

}  // namespace gw::job
