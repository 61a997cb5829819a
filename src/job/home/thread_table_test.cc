#include "job/home/thread_table.h"

#include <gtest/gtest.h>

#include "job/test/signers.h"

namespace gw::job {
namespace thread_table_test {

using std::chrono::seconds;
using test::id_of;

class Threads : public testing::Test {
 protected:
  Threads() {
    for (std::uint64_t id = 1; id <= 3; ++id) table_.add(ThreadId{id});
  }

  static ThreadId thread(std::uint64_t id) { return ThreadId{id}; }
  ThreadId first_ready() const { return table_.ready().begin()->second; }

  ThreadTable table_;
};

TEST_F(Threads, WaitInTheOrderInWhichTheyBecameKnown) {
  EXPECT_EQ(first_ready(), thread(1));
  table_.place(thread(1), id_of(1), 7, seconds(0));
  EXPECT_EQ(first_ready(), thread(2));
  table_.wait(thread(1));
  EXPECT_EQ(first_ready(), thread(1)) << "whoever lost its host goes first again";
  EXPECT_EQ(table_.waiting(), 3u);
  EXPECT_EQ(table_.placed(), 0u);
}

TEST_F(Threads, AreCountedByState) {
  table_.place(thread(1), id_of(1), 7, seconds(0));
  table_.end(thread(1), {.exit_code = 3, .sentence = ""});
  table_.fail(thread(2), {.exit_code = 1, .sentence = "no"});
  EXPECT_EQ(table_.ended(), 1u);
  EXPECT_EQ(table_.failed(), 1u);
  EXPECT_EQ(table_.unfinished(), 1u);
  EXPECT_EQ(table_.exit_code(), 3u);
  EXPECT_EQ(table_.at(thread(1)).host, id_of(1)) << "people see where it was";
}

TEST_F(Threads, AFailureGivesAnExitCode) {
  table_.add_forked(thread(9));
  EXPECT_EQ(table_.unfinished_children(), 1u);
  table_.fail(thread(9), {.exit_code = 0, .sentence = "its image is lost"});
  EXPECT_EQ(table_.exit_code(), 1u);
  EXPECT_EQ(table_.unfinished_children(), 0u);
}

TEST_F(Threads, ThatWaitForAKeeperAreNotReady) {
  table_.set_keepers(thread(1), {id_of(9)});
  table_.park(thread(1), seconds(5));
  EXPECT_EQ(first_ready(), thread(2));
  EXPECT_EQ(table_.waiting(), 3u);
  EXPECT_TRUE(table_.parked().at(id_of(9)).contains(thread(1)));
  table_.wait(thread(1));
  EXPECT_TRUE(table_.parked().empty());
  EXPECT_EQ(first_ready(), thread(1));
}

TEST_F(Threads, AreFoundByTheirKeeperUntilTheyAreOver) {
  table_.set_keepers(thread(1), {id_of(9)});
  table_.set_keepers(thread(2), {id_of(9)});
  table_.set_keepers(thread(2), {id_of(8)});
  EXPECT_EQ(table_.kept_by(id_of(9))->size(), 1u);
  table_.end(thread(1), {});
  EXPECT_EQ(table_.kept_by(id_of(9)), nullptr);
  EXPECT_TRUE(table_.at(thread(1)).kept_at(id_of(9)));
}

TEST_F(Threads, BecomeDueOnceAndNotAfterTheyLeave) {
  table_.place(thread(1), id_of(1), 7, seconds(0));
  table_.place(thread(2), id_of(1), 7, seconds(0));
  table_.set_due(thread(1), seconds(3));
  table_.set_due(thread(2), seconds(2));
  EXPECT_EQ(table_.next_due(), seconds(2));
  EXPECT_EQ(table_.take_due(seconds(1)), std::nullopt);
  EXPECT_EQ(table_.take_due(seconds(9)), thread(2));
  table_.wait(thread(1));
  EXPECT_EQ(table_.take_due(seconds(9)), std::nullopt);
  EXPECT_EQ(table_.next_due(), kNever);
}

TEST_F(Threads, RememberTheLastFewHostsWhereTheyDied) {
  for (std::uint8_t host = 1; host <= ThreadTable::kAvoided + 2; ++host) table_.avoid(thread(1), id_of(host));
  table_.avoid(thread(1), id_of(4));
  EXPECT_EQ(table_.at(thread(1)).avoid.size(), ThreadTable::kAvoided);
  EXPECT_EQ(table_.at(thread(1)).avoid.back(), id_of(4));
}

TEST_F(Threads, AreWrittenDownWithTheirState) {
  EXPECT_EQ(record_of(table_.at(thread(1)), 2).state(), wire::pb::ThreadRecord::WAITING);
  table_.place(thread(1), id_of(1), 7, seconds(0));
  EXPECT_EQ(record_of(table_.at(thread(1)), 2).claim(), 7u);
  EXPECT_EQ(record_of(table_.at(thread(1)), 2).slots(), 2u);
  table_.fail(thread(1), {.exit_code = 5, .sentence = "too much memory"});
  const wire::pb::ThreadRecord record = record_of(table_.at(thread(1)), 0);
  EXPECT_EQ(record.state(), wire::pb::ThreadRecord::FAILED);
  EXPECT_EQ(record.exit_code(), 5u);
  EXPECT_EQ(record.sentence(), "too much memory");
}

}  // namespace thread_table_test
}  // namespace gw::job
