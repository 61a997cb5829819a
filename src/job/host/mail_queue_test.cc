#include "job/host/mail_queue.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace mail_queue_test {

using Guest = MailQueue::Guest;

google::protobuf::RepeatedPtrField<wire::pb::Mail> mails(std::uint64_t first, std::uint64_t count) {
  google::protobuf::RepeatedPtrField<wire::pb::Mail> list;
  for (std::uint64_t i = first; i < first + count; ++i) list.Add()->set_tag(i);
  return list;
}

TEST(MailQueue, AnAnswerThatCameTwiceIsReadOnce) {
  MailQueue queue(5);
  EXPECT_TRUE(queue.tell(Guest::reads));
  EXPECT_TRUE(queue.tell(Guest::waits));
  EXPECT_FALSE(queue.tell(Guest::waits));
  ASSERT_TRUE(queue.on_mails(5, mails(5, 2)));
  ASSERT_TRUE(queue.on_mails(5, mails(5, 3)));
  for (const std::uint64_t number : {5u, 6u, 7u}) EXPECT_EQ(queue.take().tag(), number);
  EXPECT_EQ(queue.front(), nullptr);
  EXPECT_TRUE(queue.tell(Guest::reads));
  EXPECT_TRUE(queue.on_mails(5, mails(5, 1)));
  EXPECT_FALSE(queue.tell(Guest::reads)) << "the question is not answered yet";
}

TEST(MailQueue, ThereIsNoGap) {
  MailQueue queue(0);
  EXPECT_FALSE(queue.on_mails(1, mails(1, 1)));
  for (std::uint64_t first = 0; first < MailQueue::kMaxUnread; first += 1024) ASSERT_TRUE(queue.on_mails(first, mails(first, 1024)));
  EXPECT_FALSE(queue.on_mails(queue.next(), mails(queue.next(), 1)));
}

}  // namespace mail_queue_test
}  // namespace gw::job
