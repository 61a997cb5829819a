#include "job/tasks/task_ranges.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

TEST(TaskRanges, AreNumbersAndRanges) {
  EXPECT_EQ(parse_tasks("3-9,12")->spans(), (std::vector<TaskSpan>{{3, 7}, {12, 1}}));
  EXPECT_EQ(text_of(*parse_tasks("12,3-9,4,10")), "3-10,12");
  EXPECT_EQ(parse_tasks("0")->size(), 1u);
}

TEST(TaskRanges, RefuseEverythingElse) {
  for (const char* text : {"", ",", "3-", "-3", "9-3", "a", "1,,2", "4294967295", "0-4294967295", "1 2"})
    EXPECT_EQ(parse_tasks(text).error().kind, Kind::invalid) << text;
  std::string many;
  for (std::size_t i = 0; i <= kMaxRanges; ++i) many += (i == 0 ? "" : ",") + std::to_string(2 * i);
  EXPECT_FALSE(parse_tasks(many));
}

}  // namespace
}  // namespace gw::job
