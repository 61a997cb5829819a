#pragma once
// Names of virtual threads.

#include <cstdint>
#include <optional>

#include "base/ids.h"

namespace gw::job {

struct ThreadTag;
using ThreadId = Id<ThreadTag>;

// The thread that runs `main`.
inline constexpr ThreadId kMainThread{1};

// The id of the child that `parent` forks with its effect number `sequence`. A replay of the fork gives the same id. Two threads of a job
// have the same id with a probability of 2^-64 per pair; home refuses the second one.
ThreadId child_of(ThreadId parent, std::uint64_t sequence);
// The thread id of task `task` of `tasks`: the main thread if there is one task. An array of tasks has no main thread; the ids of its tasks
// follow each other, so that a task is found by its id without a table. No id of a child is among them.
ThreadId thread_of_task(std::uint32_t task, std::uint32_t tasks);
// The task with this id; none: the thread was forked.
std::optional<std::uint32_t> task_of_thread(ThreadId thread, std::uint32_t tasks);

}  // namespace gw::job
