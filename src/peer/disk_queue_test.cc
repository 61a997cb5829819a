#include "peer/disk_queue.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gw::peer {
namespace disk_queue_test {

const job::PeerId kTo{sha256(as_bytes("a peer"))};

class TwoActionsWait : public testing::Test {
 protected:
  // A turn that has something for the disk, a message that waits for it, and an action that waits and is no message.
  void add(const std::string& content, bool with_record = true) {
    job::Actions turn;
    if (with_record) turn.record("key", content);
    job::JobMessage message;
    message.mutable_blob()->set_bytes(content);
    turn.after_disk(job::to_peer(kTo, {}, std::move(message)));
    turn.after_disk(job::Notify{job::JobAccepted{}});
    queue_.add(turn, ready_);
  }
  job::Ticket persist() {
    const auto& batch = std::get<job::Persist>(ready_.front());
    const job::Ticket ticket = batch.ticket;
    ready_.clear();
    return ticket;
  }
  static std::vector<std::string> messages(const std::vector<job::Action>& actions) {
    std::vector<std::string> contents;
    for (const job::Action& action : actions)
      if (const auto* send = std::get_if<job::Send>(&action)) contents.push_back(send->message.job().blob().bytes());
    return contents;
  }

  DiskQueue queue_{{.batches = 2, .waiting = 6, .waiting_bytes = 1000}};
  std::deque<job::Action> ready_;
  std::vector<job::Action> done_;
};

TEST_F(TwoActionsWait, UntilTheRecordsBeforeThemAreOnTheDisk) {
  add("first");
  ASSERT_EQ(ready_.size(), 1u) << "the batch alone";
  const job::Ticket first = persist();
  add("second", false);
  EXPECT_TRUE(ready_.empty()) << "it has no records and waits for those before it";
  EXPECT_EQ(queue_.waiting(), 4u);
  queue_.on_persisted(first, done_);
  EXPECT_EQ(messages(done_), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(queue_.waiting(), 0u);
  add("third", false);
  EXPECT_EQ(ready_.size(), 2u) << "nothing is on its way to the disk";
}

TEST_F(TwoActionsWait, ADiskThatAnswersNothingIsBehind) {
  add("first");
  EXPECT_FALSE(queue_.behind());
  add("second");
  EXPECT_TRUE(queue_.behind());
}

// Finding N19: while the disk was full, everything that was said waited in memory without end.
TEST_F(TwoActionsWait, AndNoMoreMessagesThanTheLimit) {
  for (int turn = 0; turn < 3; ++turn) add("within");
  const job::Ticket first = persist();
  add("beyond");
  EXPECT_EQ(queue_.waiting(), 7u) << "a notice cannot be repeated and stays";
  queue_.on_persisted(first + 3, done_);
  EXPECT_EQ(messages(done_), (std::vector<std::string>{"within", "within", "within"}));
  EXPECT_EQ(done_.size(), 7u);
}

TEST_F(TwoActionsWait, AndNoMoreBytesThanTheLimit) {
  add(std::string(600, 'a'));
  const job::Ticket first = persist();
  add(std::string(600, 'b'));
  add("c");
  queue_.on_persisted(first + 2, done_);
  EXPECT_EQ(messages(done_), (std::vector<std::string>{std::string(600, 'a'), "c"}));
}

}  // namespace disk_queue_test
}  // namespace gw::peer
