#pragma once
// Tasks as people write them: "3-9,12".

#include <string>
#include <string_view>

#include "base/result.h"
#include "job/tasks/task_set.h"

namespace gw::job {

// Limit: kMaxRanges. Kind::invalid: what is wrong with the text.
inline constexpr std::size_t kMaxRanges = 4096;
Result<TaskSet> parse_tasks(std::string_view text);
std::string text_of(const TaskSet& tasks);

}  // namespace gw::job
