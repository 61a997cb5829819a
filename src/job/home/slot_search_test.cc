#include "job/home/slot_search.h"

#include <gtest/gtest.h>

#include "job/placing/search_query.h"
#include "job/test/signers.h"

namespace gw::job {
namespace slot_search_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::id_of;

class Searching : public testing::Test {
 protected:
  Searching() { search_.begin(now_); }

  std::optional<SlotSearch::Round> next() { return search_.next(now_, neighbours_); }
  // The next round, whenever it is due.
  SlotSearch::Round due() {
    now_ = std::max(now_, search_.next_round());
    return *next();
  }

  const std::vector<LivePeers::Neighbour> neighbours_{
      {id_of(1), Time(0)}, {id_of(2), milliseconds(10)}, {id_of(3), milliseconds(30)}, {id_of(4), milliseconds(300)}};
  Time now_{seconds(100)};
  SlotSearch search_{{}, 3};
};

TEST_F(Searching, BeginsNearAndDoublesItsRadius) {
  const SlotSearch::Round first = due();
  EXPECT_EQ(first.radius, milliseconds(20));
  EXPECT_EQ(first.ask, (std::vector{id_of(1), id_of(2)}));
  EXPECT_TRUE(first.passed_on);
  search_.on_answer(id_of(2), first.number);
  const SlotSearch::Round second = due();
  EXPECT_EQ(second.radius, milliseconds(40));
  EXPECT_EQ(second.ask.size(), 3u);
  EXPECT_GT(second.number, first.number);
}

TEST_F(Searching, WaitsTwiceAsLongAfterEachRound) {
  EXPECT_TRUE(next());
  EXPECT_FALSE(next());
  EXPECT_EQ(search_.next_round() - now_, milliseconds(300));
  due();
  EXPECT_EQ(search_.next_round() - now_, milliseconds(600));
  for (int i = 0; i < 10; ++i) due();
  EXPECT_EQ(search_.next_round() - now_, seconds(60));
}

TEST_F(Searching, GoesToTheWholeGridAfterTwoRoundsWithoutANewPeer) {
  const SlotSearch::Round first = due();
  search_.on_answer(id_of(2), first.number);
  const SlotSearch::Round second = due();
  search_.on_answer(id_of(2), second.number);
  EXPECT_LT(due().radius, kWholeGrid);
  const SlotSearch::Round fourth = due();
  EXPECT_EQ(fourth.radius, kWholeGrid);
  EXPECT_EQ(fourth.ask.size(), neighbours_.size());
  search_.on_answer(id_of(9), fourth.number);
  EXPECT_EQ(due().radius, kWholeGrid) << "it stays";
}

TEST_F(Searching, BeginsOneRoundBelowTheLast) {
  for (std::uint8_t i = 0; i < 4; ++i) search_.on_answer(id_of(10 + i), due().number);  // radius 20, 40, 80, 160
  search_.end();
  EXPECT_EQ(search_.next_round(), kNever);
  now_ += seconds(1);
  search_.begin(now_);
  EXPECT_EQ(due().radius, milliseconds(80));
}

TEST_F(Searching, AJobThatLacksSlotsAgainAndAgainDoesNotFloodTheGrid) {
  due();
  search_.end();
  search_.begin(now_);
  EXPECT_FALSE(next());
  now_ += milliseconds(300);
  EXPECT_TRUE(next());
}

TEST_F(Searching, TakesAnswersOfItsOwnRoundsOnly) {
  const std::uint64_t round = due().number;
  EXPECT_EQ(round >> 32, 3u) << "no round of an earlier boot has its number";
  EXPECT_FALSE(search_.on_answer(id_of(2), round + 1));
  EXPECT_FALSE(search_.on_answer(id_of(2), round - 1));
  EXPECT_TRUE(search_.on_answer(id_of(2), round));
  search_.end();
  EXPECT_FALSE(search_.on_answer(id_of(2), round)) << "too late";
  search_.begin(now_);
  EXPECT_FALSE(search_.on_answer(id_of(2), round));
}

TEST_F(Searching, AnswersAreWaitedForHalfASecondAtMost) {
  for (int i = 0; i < 6; ++i) due();
  EXPECT_TRUE(search_.has_answers(now_)) << "none is expected";
  search_.expect(id_of(2));
  EXPECT_FALSE(search_.has_answers(now_));
  EXPECT_EQ(search_.answers_by(), now_ + milliseconds(500));
  EXPECT_FALSE(search_.has_answers(now_ + milliseconds(499)));
  EXPECT_TRUE(search_.has_answers(now_ + milliseconds(500)));
  search_.on_peer_lost(id_of(2));
  EXPECT_TRUE(search_.has_answers(now_));
}

TEST_F(Searching, APeerThatHasSlotsNowIsAskedAlone) {
  due();
  const Time next_round = search_.next_round();
  const SlotSearch::Round round = search_.ask(now_, std::vector{id_of(4)});
  EXPECT_FALSE(round.passed_on);
  EXPECT_EQ(round.ask, (std::vector{id_of(4)}));
  EXPECT_EQ(search_.next_round(), next_round);
  EXPECT_TRUE(search_.on_answer(id_of(4), round.number));
}

// A peer that announced slots all the time and answered nothing put off the choice among the offers of all others, until they had lapsed.
TEST_F(Searching, PeersThatAreAskedAloneDoNotPutOffTheChoice) {
  for (int i = 0; i < 6; ++i) due();  // the next round is far away
  search_.expect(id_of(2));
  for (const Time until = now_ + seconds(1); now_ < until; now_ += milliseconds(100)) {
    search_.ask(now_, std::vector{id_of(9)});
    search_.expect(id_of(9));
  }
  EXPECT_TRUE(search_.has_answers(now_));
  search_.ask(now_, std::vector{id_of(9)});
  search_.expect(id_of(9));
  EXPECT_FALSE(search_.has_answers(now_)) << "it is waited for, once the others had their time";
}

TEST(SlotSearch, ALocalNetworkIsSearchedAtOnce) {
  SlotSearch search({}, 1);
  search.begin(Time(0));
  const std::vector<LivePeers::Neighbour> near{{id_of(1), Time(0)}, {id_of(2), Time(20'000)}, {id_of(3), Time(900'000)}};
  EXPECT_EQ(search.next(Time(0), near)->ask.size(), 3u);
}

}  // namespace slot_search_test
}  // namespace gw::job
