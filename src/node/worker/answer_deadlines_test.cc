#include "node/worker/answer_deadlines.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

using std::chrono::seconds;

TEST(AnswerDeadlines, TheEarliestIsNextUntilItIsAnswered) {
  AnswerDeadlines<int> deadlines;
  EXPECT_FALSE(deadlines.next());
  deadlines.expect(1, seconds(60));
  deadlines.expect(2, seconds(20));
  deadlines.expect(3, seconds(60));
  EXPECT_EQ(deadlines.next()->request, 2);
  EXPECT_EQ(deadlines.next()->at, seconds(20));
  EXPECT_TRUE(deadlines.expects(2));
  deadlines.forget(2);
  deadlines.forget(2);
  EXPECT_FALSE(deadlines.expects(2));
  EXPECT_EQ(deadlines.next()->request, 1);
  deadlines.forget(1);
  deadlines.forget(3);
  EXPECT_FALSE(deadlines.next());
}

TEST(AnswerDeadlines, ARequestThatIsSentAgainHasItsLastDeadline) {
  AnswerDeadlines<int> deadlines;
  deadlines.expect(1, seconds(1));
  deadlines.expect(1, seconds(5));
  EXPECT_EQ(deadlines.next()->at, seconds(5));
  deadlines.forget(1);
  EXPECT_FALSE(deadlines.next());
}

}  // namespace
}  // namespace gw::node
