#pragma once
// The reaction of a job to tasks that fail, and the time at which it is over.

#include <cstdint>
#include <optional>
#include <string>

#include "job/authority/manifest.h"
#include "job/effects/stored_effect.h"
#include "job/home/thread_table.h"

namespace gw::job {

// The rules of a manifest for ends of threads: which end is a failure, whether the thread runs again, and when failures or its time stop
// the job. Immutable. REQUIRES: the manifest outlives it.
class FailurePolicy {
 public:
  explicit FailurePolicy(const Manifest& manifest) : manifest_(manifest) {}

  // A task that exits with another code than 0 has failed. Of one program alone the code may say anything.
  bool is_failure(const HomeThread& thread, const Effect::End& end) const;
  // Whether the thread begins again after this end. The children of a thread that has forked (`spawned`) live on, so it cannot.
  enum class Spawned : std::uint8_t { nothing, children };
  bool runs_again(const HomeThread& thread, const Effect::End& end, Spawned spawned) const;
  // The sentence with which the job stops; none: it goes on.
  std::optional<std::string> stops(std::uint64_t failed, std::uint64_t unfinished) const;
  // The same, for a job that was accepted so long ago.
  std::optional<std::string> out_of_time(Time age, std::uint64_t unfinished) const;

 private:
  const Manifest& manifest_;
};

// The facts about the end of a thread. `now`: since 1970.
EndFacts end_facts_of(Time now, const HomeThread& thread);

}  // namespace gw::job
