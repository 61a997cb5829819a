#include "job/test/at_home.h"

namespace gw::job {
namespace home_test {

TEST_F(AtHome, AThreadThatTheHostDoesNotTakeIsPlacedInANewEpoch) {
  const auto first = offer(kFirst, 2);
  status(kFirst, {first[0]}, JobMessage::GONE);
  EXPECT_TRUE(assigned(kFirst).empty()) << "it has no room now";
  tick(config_.slots.renew + config_.retry);
  const auto again = assigned(kFirst);
  const auto found = std::ranges::find(again, first[0].thread(), &JobMessage::Assign::thread);
  ASSERT_NE(found, again.end());
  EXPECT_EQ(found->epoch(), 2u);
}

// A host that runs out of disk gives back a thread that runs: no fault of the program, however often it happens.
TEST_F(AtHome, AThreadThatLeavesForWantOfRoomIsNotBlamed) {
  begin(1);
  auto placed = offer(kFirst, 2);
  for (std::uint64_t epoch = 1; epoch < 9; ++epoch) {
    ASSERT_FALSE(placed.empty()) << epoch;
    ASSERT_EQ(placed.back().epoch(), epoch);
    status(kFirst, {placed.back()}, JobMessage::BEGINNING);
    JobMessage::Status status;
    status.set_claim(7);
    status.set_number(++status_number_);
    status.set_failure("this peer stores no more than 100 bytes of one job");
    JobMessage::Status::Held& gone = *status.add_held();
    gone.set_thread(placed.back().thread());
    gone.set_epoch(epoch);
    gone.set_start_state(JobMessage::GONE);
    gone.set_no_room(true);
    home_->on_status(now_, id_of(kFirst), status, out_);
    tick(config_.slots.renew + config_.retry);
    placed = assigned(kFirst);
    if (placed.empty()) placed = offer(kFirst, 2);
  }
  take();
  EXPECT_EQ(count<ThreadFailed>(), 0u);
}

// Defect 4: one host's word failed a thread for good.
TEST_F(AtHome, AsksAnotherHostBeforeAThreadIsGivenUp) {
  begin(1);
  peers_.free_slots[id_of(kSecond)] = 2;
  const auto first = offer(kFirst, 2);
  ASSERT_EQ(first.size(), 1u);
  fail_at(kFirst, first[0]);
  EXPECT_EQ(count<ThreadFailed>(), 0u);
  EXPECT_TRUE(assigned(kFirst).empty()) << "somebody else is to try";
  const auto elsewhere = offer(kSecond, 2);
  ASSERT_EQ(elsewhere.size(), 1u);
  fail_at(kSecond, elsewhere[0]);
  take();
  EXPECT_EQ(count<ThreadFailed>(), 1u) << "two hosts agree";
  EXPECT_EQ(count<JobOver>(), 1u);
}

TEST_F(AtHome, GivesAThreadUpAfterSomeReportsOfTheOnlyHost) {
  begin(1);
  auto assign = offer(kFirst, 2);
  for (std::uint32_t report = 1; report < config_.placement.faults; ++report) {
    fail_at(kFirst, assign.at(0));
    take();
    EXPECT_EQ(count<ThreadFailed>(), 0u);
    tick(config_.fault_patience);
    assign = offer(kFirst, 2);
    ASSERT_EQ(assign.size(), 1u);
    EXPECT_EQ(assign[0].epoch(), report + 1);
  }
  fail_at(kFirst, assign[0]);
  take();
  EXPECT_EQ(count<ThreadFailed>(), 1u);
}

// Finding N8: two hosts that cannot use what a keeper has are no proof that the program cannot run.
TEST_F(AtHome, AThreadWhoseKeptStateIsBadBeginsAnewAtAnotherKeeper) {
  begin(1);
  peers_.free_slots[id_of(kSecond)] = 2;
  const auto first = offer(kFirst, 2);
  ASSERT_EQ(first.size(), 1u);
  fail_at(kFirst, first[0], KeptState::bad);
  const auto second = offer(kSecond, 2);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_TRUE(second[0].restore());
  fail_at(kSecond, second[0], KeptState::bad);
  std::vector<JobMessage::Assign> anew = assigned(kSecond);
  if (anew.empty()) anew = assigned(kFirst);
  if (anew.empty()) anew = offer(kFirst, 2);
  ASSERT_EQ(anew.size(), 1u);
  EXPECT_EQ(count<ThreadFailed>(), 0u);
  EXPECT_FALSE(anew[0].restore());
  EXPECT_GT(anew[0].epoch(), second[0].epoch());
  EXPECT_NE(anew[0].keepers(0), second[0].keepers(0));
}

TEST_F(AtHome, AThreadThatNeedsItsDeterminantsFailsWhenTheyAreLost) {
  begin(1);
  peers_.free_slots[id_of(kSecond)] = 2;
  const auto first = offer(kFirst, 2);
  ASSERT_EQ(first.size(), 1u);
  effects(kFirst, {output_of(first[0], 1)}, /*determinants=*/1);
  fail_at(kFirst, first[0], KeptState::bad);
  const auto second = offer(kSecond, 2);
  ASSERT_EQ(second.size(), 1u);
  fail_at(kSecond, second[0], KeptState::bad);
  take();
  EXPECT_EQ(count<ThreadFailed>(), 1u) << "from its beginning it would do something else than what was stored";
}

// Defect 4: a host with room got the thread again at once, three times, before another host had offered a slot.
TEST_F(AtHome, AThreadThatOneHostBlamesWaitsForAnotherHost) {
  begin(1);
  auto first = offer(kFirst, 2);
  peers_.free_slots[id_of(kSecond)] = 2;
  for (std::uint32_t report = 0; report < 2 * config_.placement.faults; ++report) {
    fail_at(kFirst, first.at(0));
    EXPECT_TRUE(sent_to<&JobMessage::has_release>(kFirst)) << "so that others can be asked";
    EXPECT_TRUE(offer(kFirst, 2).empty());
    tick(config_.fault_patience);
    EXPECT_TRUE(assigned(kFirst).empty());
    first = offer(kFirst, 2);
  }
  take();
  EXPECT_EQ(count<ThreadFailed>(), 0u) << "the other one has a free slot, and has not been heard yet";
  fail_at(kFirst, first.at(0));
  take();
  const auto second = offer(kSecond, 2);
  ASSERT_EQ(second.size(), 1u);
  effects(kSecond, {end_of(second[0], 1)});
  take();
  EXPECT_EQ(count<ThreadFailed>(), 0u);
  EXPECT_EQ(count<JobOver>(), 1u);
}

// A thread of the first lost claim went to the second, an epoch later to the third, and so on.
TEST_F(AtHome, AThreadIsNotPlacedAtAHostWhoseClaimEndsInTheSameTick) {
  begin(4);
  const auto first = offer(kFirst, 2);
  const auto second = offer(kSecond, 2);
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 2u);
  effects(kFirst, {end_of(first[0], 1)});
  effects(kSecond, {end_of(second[0], 1)});
  take();
  tick(config_.slots.silence + seconds(2), milliseconds(400));
  EXPECT_EQ(home_->snapshot().waiting, 2u);
  for (const auto& [to, message] : take()) EXPECT_FALSE(message.has_assign() && message.assign().epoch() > 1);
}

TEST_F(AtHome, WritesItsCountersOnceForAllThreadsOfALostHost) {
  begin(4);
  ASSERT_EQ(offer(kFirst, 4).size(), 4u);
  home_->on_peer_lost(now_, id_of(kFirst), out_);
  home_->end_turn(out_);
  home_->end_turn(out_);
  const std::string key = RecordKey{.kind = RecordKind::counters, .job = charter_.id()}.encode();
  EXPECT_EQ(std::ranges::count(out_.records, key, &Record::key), 1);
}

// A host that gives every thread back got it again in the same moment, an epoch each time.
TEST_F(AtHome, LeavesAHostThatSuspendsEveryThreadUnasked) {
  begin(1);
  auto given = offer(kFirst, 2);
  std::size_t times = 0;
  for (; !given.empty() && times < 100; ++times) {
    suspended(kFirst, given[0]);
    EXPECT_TRUE(assigned(kFirst).empty()) << "not at once";
    status(kFirst, {}, JobMessage::NOT_YET);
    tick(config_.slots.renew);
    given = assigned(kFirst);
  }
  EXPECT_EQ(times, config_.placement.refusals);
  peers_.free_slots[id_of(kSecond)] = 2;
  tick(seconds(1));
  for (const auto& [to, message] : take()) EXPECT_FALSE(message.has_claim() && to == id_of(kFirst)) << "as long as there is somebody else";
}

TEST_F(AtHome, AThreadThatComesBackFromASuspensionIsNoRefusal) {
  begin(2);  // the image of a lone thread is brought home before it is suspended
  const auto first = offer(kFirst, 2);
  status(kFirst, first, JobMessage::BEGINNING);
  ASSERT_TRUE(home_->suspend(now_, out_));
  tick(milliseconds(500));
  ASSERT_TRUE(home_->resume(now_, out_));
  take();
  suspended(kFirst, first[0]);
  EXPECT_EQ(assigned(kFirst).size(), 1u);
}

// Defect 4: a host that took threads and never did anything held the job without limit.
TEST_F(AtHome, LeavesAHostThatDoesNothingWhileOthersHaveRoom) {
  const auto first = offer(kFirst, 2);
  status(kFirst, first, JobMessage::QUEUED, "", 1);
  for (int i = 0; i < 60; ++i) {
    tick(seconds(10));
    status(kFirst, first, JobMessage::QUEUED, "", 1);
  }
  EXPECT_EQ(home_->snapshot().running, 2u) << "there is nobody else";
  peers_.free_slots[id_of(kSecond)] = 2;
  take();
  tick(seconds(1));
  bool released = false;
  for (const auto& [to, message] : take()) released = released || (to == id_of(kFirst) && message.has_release());
  EXPECT_TRUE(released);
  EXPECT_EQ(home_->snapshot().waiting, 2u);
  tick(seconds(2));
  for (const auto& [to, message] : take())
    EXPECT_FALSE(message.has_claim() && to == id_of(kFirst)) << "not there again, as long as there is somebody else";
}

TEST_F(AtHome, KeepsAHostOfWhichSomethingIsHeard) {
  peers_.free_slots[id_of(kSecond)] = 2;
  const auto first = offer(kFirst, 2);
  for (std::uint64_t i = 1; i < 60; ++i) {
    tick(seconds(10));
    status(kFirst, first, JobMessage::BEGINNING, "", i);
  }
  EXPECT_EQ(home_->snapshot().running, 2u);
}

// Finding N4: a host that only increased its progress number held its threads without limit.
TEST_F(AtHome, AHostsOwnNumberIsNotBelievedForEver) {
  const auto first = offer(kFirst, 2);
  peers_.free_slots[id_of(kSecond)] = 2;
  bool released = false;
  for (std::uint64_t i = 1; i < 200 && !released; ++i) {
    tick(seconds(10));
    status(kFirst, first, JobMessage::BEGINNING, "", i);
    released = sent_to<&JobMessage::has_release>(kFirst);
  }
  EXPECT_TRUE(released);
}

TEST_F(AtHome, KeepsAHostWhoseThreadsAreSeenByAKeeper) {
  const auto first = offer(kFirst, 2);
  peers_.free_slots[id_of(kSecond)] = 2;
  for (std::uint64_t i = 1; i < 200; ++i) {
    tick(seconds(10));
    status(kFirst, first, JobMessage::BEGINNING, "", i);
    JobMessage::AskKept kept;
    kept.add_threads()->set_thread(first[0].thread());
    kept.mutable_threads(0)->set_epoch(first[0].epoch());
    kept.mutable_threads(0)->set_changes(i);
    home_->on_ask_kept(now_, PeerId::from(first[0].keepers(0)), kept, out_);
  }
  EXPECT_EQ(home_->snapshot().running, 2u);
}

TEST_F(AtHome, AnOfferThatWasNotAskedForIsGivenBack) {
  EXPECT_TRUE(offer_unasked(kFirst, 2).empty());
  EXPECT_EQ(home_->snapshot().waiting, 2u);
  home_->on_offer(now_, id_of(kFirst), {}, out_);
  EXPECT_TRUE(sent_to<&JobMessage::has_release>(kFirst));
  EXPECT_EQ(offer(kFirst, 2).size(), 2u);
}

// A peer that kept nothing held a thread without limit, and the status of the job did not say why.
TEST_F(AtHome, SaysThatNobodyKeepsTheImage) {
  const auto first = offer(kFirst, 2);
  EXPECT_EQ(home_->snapshot().threads[0].why.reason, Reason::starting);
  status(kFirst, first, JobMessage::BEGINNING);
  EXPECT_EQ(home_->snapshot().threads[0].why.reason, Reason::ok);
  stalled(kFirst, first[0]);
  EXPECT_EQ(home_->snapshot().threads[0].why.reason, Reason::keeper_refuses);
  EXPECT_EQ(home_->snapshot().threads[1].why.reason, Reason::ok);
  status(kFirst, first, JobMessage::BEGINNING);
  EXPECT_EQ(home_->snapshot().threads[0].why.reason, Reason::ok) << "one keeps it";
}

TEST_F(AtHome, SaysThatAThreadIsBlamedOrItsJobSuspended) {
  begin(1);
  const auto first = offer(kFirst, 2);
  fail_at(kFirst, first[0]);
  EXPECT_EQ(home_->snapshot().threads[0].why.reason, Reason::host_blames);
  ASSERT_TRUE(home_->suspend(now_, out_));
  EXPECT_EQ(home_->snapshot().threads[0].why.reason, Reason::suspended);
}

// --- children

TEST_F(AtHome, AChildIsPlacedAtTheHostOfItsParentIfThatHasRoom) {
  begin(2);
  peers_.free_slots[id_of(kSecond)] = 4;
  const auto parent = offer(kFirst, 2);
  ASSERT_EQ(parent.size(), 2u);
  effects(kFirst, {end_of(parent[1], 1)});
  EXPECT_TRUE(offer(kSecond, 2, 8).empty());
  effects(kFirst, {spawn_of(parent[0], 1)});
  const auto child = assigned(kFirst);
  ASSERT_EQ(child.size(), 1u);
  EXPECT_EQ(child[0].thread(), child_of(ThreadId{parent[0].thread()}, 1).value());
  EXPECT_EQ(child[0].keepers(0), parent[0].keepers(0)) << "which has its first image";
  EXPECT_GT(child[0].keeper_generation(), parent[0].keeper_generation());
  EXPECT_TRUE(child[0].restore());
  EXPECT_TRUE(child[0].forked());
  EXPECT_FALSE(child[0].grant().grant().empty());
}

TEST_F(AtHome, AChildIsPlacedElsewhereIfTheHostOfItsParentIsFull) {
  begin(1);
  peers_.free_slots[id_of(kSecond)] = 4;
  const auto parent = offer(kFirst, 1);
  ASSERT_EQ(parent.size(), 1u);
  effects(kFirst, {spawn_of(parent[0], 1), spawn_of(parent[0], 2)});
  EXPECT_TRUE(assigned(kFirst).empty()) << "nobody has room";
  const auto children = offer(kSecond, 2, 8);
  ASSERT_EQ(children.size(), 2u);
  EXPECT_TRUE(children[0].restore());
  effects(kFirst, {end_of(parent[0], 1)});
  take();
  EXPECT_EQ(count<JobOver>(), 0u);
  for (const JobMessage::Assign& child : children) effects(kSecond, {end_of(child, 1)});
  take();
  EXPECT_EQ(count<JobOver>(), 1u);
}

TEST_F(AtHome, AReplayedSpawnMakesNoSecondChild) {
  begin(2);
  const auto first = offer(kFirst, 2);
  effects(kFirst, {end_of(first[1], 1)});
  effects(kFirst, {spawn_of(first[0], 1)});
  const auto child = assigned(kFirst);
  ASSERT_EQ(child.size(), 1u);
  status(kFirst, {first[0], child[0]}, JobMessage::BEGINNING);
  status(kFirst, {}, JobMessage::BEGINNING, "it died");
  std::vector<JobMessage::Assign> again = assigned(kFirst);
  ASSERT_EQ(again.size(), 2u) << "the child is placed again by itself";
  const auto parent = std::ranges::find(again, first[0].thread(), &JobMessage::Assign::thread);
  ASSERT_NE(parent, again.end());
  EXPECT_EQ(wire::marks_of(parent->stored()), (StreamMarks{{kLogStream, 1}}));
  effects(kFirst, {spawn_of(*parent, 1), output_of(*parent, 1)});
  EXPECT_TRUE(assigned(kFirst).empty());
  EXPECT_EQ(home_->threads(), 3u);
}

TEST_F(AtHome, AChildThatIsSpawnedDuringASuspensionWaits) {
  begin(1);
  const auto parent = offer(kFirst, 2);
  ASSERT_TRUE(home_->suspend(now_, out_));
  take();
  effects(kFirst, {spawn_of(parent[0], 1)});
  EXPECT_TRUE(assigned(kFirst).empty());
  suspended(kFirst, parent[0]);
  take();
  EXPECT_EQ(count<JobSuspended>(), 1u);
  ASSERT_TRUE(home_->resume(now_, out_));
  take();
  EXPECT_EQ(offer(kFirst, 2).size(), 2u);
}

// A keeper may drop what an epoch of the parent has spawned that is over, and nothing else.
TEST_F(AtHome, TheImageOfAChildIsKeptAsLongAsItsSpawnMayCome) {
  begin(1);
  const auto parent = offer(kFirst, 2);
  JobMessage::AskKept ask;
  JobMessage::KeptName& child = *ask.add_threads();
  child.set_thread(child_of(ThreadId{parent[0].thread()}, 1).value());
  child.set_parent(parent[0].thread());
  child.set_epoch(1);
  child.set_keeper_generation(1);
  const auto forgets = [&] {
    home_->on_ask_kept(now_, id_of(kKeeperPeer), ask, out_);
    return sent_to<&JobMessage::has_forget>(kKeeperPeer);
  };
  EXPECT_FALSE(forgets());
  status(kFirst, parent, JobMessage::BEGINNING);
  status(kFirst, {}, JobMessage::BEGINNING, "it died");
  EXPECT_TRUE(forgets()) << "its spawn can never be stored";
  child.set_epoch(2);
  EXPECT_FALSE(forgets());
}

}  // namespace home_test
}  // namespace gw::job
