#pragma once
// Names of virtual threads.

#include <cstdint>

#include "base/ids.h"

namespace gw::job {

struct ThreadTag;
using ThreadId = Id<ThreadTag>;

// The thread that runs `main`.
inline constexpr ThreadId kMainThread{1};

// The child that `parent` forks with its effect number `sequence`: the same again when the fork is replayed, and different from every other
// thread of the job (a chance of one in 2^64 per pair; home refuses a second thread of the same name).
ThreadId child_of(ThreadId parent, std::uint64_t sequence);
// The thread that task `task` of so many is: main, if it is the only one. An array has no main thread, so its children are free names.
ThreadId thread_of_task(std::uint32_t task, std::uint32_t tasks);

}  // namespace gw::job
