#include "job/host/input_queue.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

TEST(InputQueue, AsksOnceForAPieceThatIsNotHere) {
  InputQueue queue(3);
  EXPECT_EQ(queue.front(), nullptr);
  EXPECT_EQ(queue.take_question(), 3u);
  EXPECT_EQ(queue.take_question(), std::nullopt);
  ASSERT_TRUE(queue.on_piece(3, "abc", false));
  EXPECT_EQ(queue.take_question(), std::nullopt) << "it is here";
  EXPECT_EQ(queue.take(), "abc");
  EXPECT_EQ(queue.take_question(), 4u);
}

TEST(InputQueue, RefusesWhatIsNotTheNextPiece) {
  InputQueue queue(0);
  EXPECT_FALSE(queue.on_piece(1, "b", false));
  ASSERT_TRUE(queue.on_piece(0, "", true));
  EXPECT_FALSE(queue.on_piece(1, "b", false)) << "after the end";
  EXPECT_EQ(*queue.front(), "");
}

TEST(InputQueue, HoldsSoManyPieces) {
  InputQueue queue(0);
  for (std::uint64_t piece = 0; piece < InputQueue::kMaxUnread; ++piece) ASSERT_TRUE(queue.on_piece(piece, "x", false));
  EXPECT_FALSE(queue.on_piece(InputQueue::kMaxUnread, "x", false));
  queue.take();
  EXPECT_TRUE(queue.on_piece(InputQueue::kMaxUnread, "x", false));
}

}  // namespace
}  // namespace gw::job
