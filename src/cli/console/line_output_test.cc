#include "cli/console/line_output.h"

#include <gmock/gmock.h>

namespace gw::cli {
namespace {

using Labels = LineOutput::Labels;
const LineOutput::Source kThird{.thread = job::ThreadId{103}, .task = 3}, kNinth{.thread = job::ThreadId{109}, .task = 9};

TEST(LineOutput, KeepsLinesOfDifferentTasksApart) {
  LineOutput lines;
  EXPECT_EQ(lines.take(kThird, "one\ntw", Labels::tasks), "3: one\n");
  EXPECT_EQ(lines.take(kNinth, "nine\n", Labels::tasks), "9: nine\n");
  EXPECT_EQ(lines.take(kThird, "o\n", Labels::tasks), "3: two\n");
  EXPECT_TRUE(lines.rest().empty());
}

TEST(LineOutput, WithoutLabelsPrintsTheSameBytes) {
  LineOutput lines;
  EXPECT_EQ(lines.take(kThird, "a\nb", Labels::none), "a\n");
  EXPECT_EQ(lines.take(kNinth, "c", Labels::none), "");
  const auto rest = lines.rest();
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].second + rest[1].second, "bc");
}

TEST(LineOutput, EndsALabelledLineThatHasNoEnd) {
  LineOutput lines;
  EXPECT_EQ(lines.take(kThird, "prompt", Labels::tasks), "");
  EXPECT_EQ(lines.rest().front().second, "3: prompt\n");
}

TEST(LineOutput, HoldsABoundedLineAndABoundedNumberOfThem) {
  LineOutput lines;
  EXPECT_EQ(lines.take(kThird, std::string(LineOutput::kMaxLine, 'x'), Labels::none).size(), LineOutput::kMaxLine);
  std::string printed;
  for (std::uint64_t i = 0; i <= LineOutput::kMaxOpen; ++i)
    printed += lines.take({.thread = job::ThreadId{i + 1}, .task = static_cast<std::int64_t>(i)}, "y", Labels::none);
  EXPECT_EQ(printed, "y") << "the line that was held longest";
  EXPECT_EQ(lines.rest().size(), LineOutput::kMaxOpen);
}

}  // namespace
}  // namespace gw::cli
