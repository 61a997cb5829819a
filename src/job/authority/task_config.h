#pragma once
// The configuration of one task of an array.

#include <cstdint>

#include "wire/worker.pb.h"

namespace gw::job {

// What task `task` of `tasks` starts with: the configuration that all tasks share, its own random seed, and, in an array, its number. The
// number is in the environment (GODWIT_TASK, GODWIT_TASKS), and stands for each "{}" in arguments and environment. `tasks` 0: no array.
// Home, hosts and workers compute it alike, so that no task has to be listed or sent.
wire::pb::ThreadConfig config_of_task(const wire::pb::ThreadConfig& shared, std::uint32_t task, std::uint32_t tasks);

}  // namespace gw::job
