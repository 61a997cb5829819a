#include "cli/console/job_progress.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace {

using Event = node::JobEvent;

job::PeerId peer(std::uint8_t first) {
  job::PeerId id;
  id.hash.bytes[0] = first;
  return id;
}

class Progress : public testing::Test {
 protected:
  void happens(decltype(Event::kind) kind) { progress.take({.number = 0, .at = {}, .kind = std::move(kind)}); }
  JobProgress progress{4};
};

TEST_F(Progress, CountsWhatRunsWhereAndWhatWasLost) {
  EXPECT_EQ(progress.line(), "[------------------------] 0/4 done");
  for (std::uint64_t i = 1; i <= 3; ++i) happens(Event::ThreadPlaced{job::ThreadId(i), peer(i == 3 ? 2 : 1)});
  EXPECT_EQ(progress.line(), "[------------------------] 0/4 done, 3 running on 2 peers");
  happens(Event::ThreadEnded{job::ThreadId(1), 0, ""});
  EXPECT_EQ(progress.line(), "[######------------------] 1/4 done, 2 running on 2 peers");
  happens(Event::PeerLost{peer(1), 1});
  EXPECT_EQ(progress.line(), "[######------------------] 1/4 done, 1 running on 1 peer, 1 peer lost");
  happens(Event::ThreadResumed{job::ThreadId(2), 2, peer(2)});
  happens(Event::ThreadFailed{job::ThreadId(3), "trapped"});
  EXPECT_EQ(progress.line(), "[######------------------] 1/4 done, 1 running on 1 peer, 1 failed, 1 peer lost, 1 thread resumed");
  happens(Event::ThreadRestarted{job::ThreadId(4), 2, peer(3)});
  EXPECT_EQ(progress.summary(), "1 of 4 on 3 peers, 1 failed, 1 peer lost, 1 thread resumed, 1 thread restarted");
}

TEST_F(Progress, ForkedThreadsJoinTheCount) {
  for (std::uint64_t i = 1; i <= 6; ++i) happens(Event::ThreadPlaced{job::ThreadId(i), peer(1)});
  EXPECT_EQ(progress.line(), "[------------------------] 0/6 done, 6 running on 1 peer");
}

TEST_F(Progress, TotalsOfAnArrayComeFromHome) {
  happens(Event::TasksEnded{.ended = 2, .failed = 1, .running = 1, .hosts = 2});
  happens(Event::TaskRepeated{job::ThreadId(3), peer(1), 1, ""});
  EXPECT_EQ(progress.line(), "[############------------] 2/4 done, 1 running on 2 peers, 1 failed, 1 run repeated");
  happens(Event::TasksEnded{.ended = 3, .failed = 1, .running = 0, .hosts = 1});
  EXPECT_EQ(progress.summary(), "3 of 4 on 2 peers, 1 failed, 1 run repeated");
}

TEST_F(Progress, BeginsInTheMiddle) {
  progress.start_from({.tasks = 10, .threads = 10, .ended = 5, .counters = {.lost = 2, .resumed = 2, .restarted = 0, .peers_lost = 1}});
  EXPECT_EQ(progress.line(), "[############------------] 5/10 done, 1 peer lost, 2 threads resumed");
}

}  // namespace
}  // namespace gw::cli
