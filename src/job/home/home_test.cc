#include "job/test/at_home.h"

namespace gw::job {
namespace home_test {

TEST_F(AtHome, PlacesThreadsAsSoonAsThereAreSlots) {
  tick(milliseconds(500));
  const auto asked = take();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(read_query(asked[0].second.search(), charter_.id())->slots(), 2u);
  EXPECT_EQ(offer(kFirst, 2).size(), 2u) << "with the offer, not with a tick";
}

TEST_F(AtHome, PlacesTheNextThreadWhenOneEnds) {
  begin(3);
  const auto first = offer(kFirst, 2);
  ASSERT_EQ(first.size(), 2u);
  effects(kFirst, {end_of(first[0], 1)});
  EXPECT_EQ(assigned(kFirst).size(), 1u);
}

// Defect 18: an assignment unseen for a while was placed again in a new epoch.
TEST_F(AtHome, RepeatsAnAssignmentInTheSameEpoch) {
  const auto first = offer(kFirst, 2);
  tick(seconds(3));
  const auto again = assigned(kFirst);
  ASSERT_GE(again.size(), 2u);
  for (const JobMessage::Assign& assign : again) EXPECT_EQ(assign.epoch(), 1u);
  EXPECT_EQ(again[0].SerializeAsString(), first[0].SerializeAsString());
  status(kFirst, first, JobMessage::BEGINNING);
  take();
  tick(seconds(3));
  EXPECT_TRUE(assigned(kFirst).empty()) << "the host has them";
}

TEST_F(AtHome, AnEffectAfterTheEndIsRefusedInAnyStream) {
  const auto first = offer(kFirst, 2);
  effects(kFirst, {end_of(first[0], 1)});
  effects(kFirst, {output_of(first[0], 2)});
  effects(kFirst, {end_of(first[0], 2)});
  Effect fork = output_of(first[0], 1);
  fork.mutable_spawn()->set_child(child_of(ThreadId{first[0].thread()}, 1).value());
  wire::set_stream(fork);
  effects(kFirst, {fork});
  take();
  EXPECT_EQ(count<PeerRefused>(), 3u);
  EXPECT_EQ(count<JobOver>(), 0u) << "the other thread still runs";
  EXPECT_EQ(home_->snapshot().ended, 1u);
}

TEST_F(AtHome, ALimitIsAFailureWithItsOwnExitCode) {
  begin(1);
  const auto first = offer(kFirst, 2);
  effects(kFirst, {end_of(first[0], 1, Effect::End::LIMIT)});
  EXPECT_EQ(home_->record().exit_code(), 5u);
  EXPECT_EQ(home_->record().failed(), 1u);
}

// Defect 5: a thread whose host and keeper were away for a minute began anew, although its effects were stored.
TEST_F(AtHome, AThreadWithStoredEffectsWaitsForItsKeeper) {
  begin(1);
  const auto first = offer(kFirst, 2);
  ASSERT_EQ(first[0].keepers(0), id_of(kKeeperPeer).bytes());
  effects(kFirst, {output_of(first[0], 1)}, 3);
  peers_.free_slots.clear();
  home_->on_peer_lost(now_, id_of(kKeeperPeer), out_);
  home_->on_peer_lost(now_, id_of(kFirst), out_);
  peers_.free_slots[id_of(kSecond)] = 2;
  tick(minutes(30), seconds(5));
  EXPECT_TRUE(offer(kSecond, 2).empty());
  const JobSnapshot waiting = home_->snapshot();
  EXPECT_EQ(waiting.waiting, 1u);
  EXPECT_EQ(waiting.threads[0].why.reason, Reason::keeper_away);
  peers_.free_slots[id_of(kKeeperPeer)] = 0;
  tick(seconds(1));
  take();
  const auto resumed = offer(kSecond, 2);
  ASSERT_EQ(resumed.size(), 1u);
  EXPECT_TRUE(resumed[0].restore());
  EXPECT_EQ(resumed[0].keepers(0), id_of(kKeeperPeer).bytes());
}

TEST_F(AtHome, AThreadOfWhichNothingIsKnownBeginsAnewWithoutItsKeeper) {
  begin(1);
  const auto first = offer(kFirst, 2);
  peers_.free_slots.clear();
  home_->on_peer_lost(now_, id_of(kFirst), out_);
  peers_.free_slots[id_of(kSecond)] = 2;
  tick(config_.keeper_patience + seconds(2));
  take();
  const auto anew = offer(kSecond, 2);
  ASSERT_EQ(anew.size(), 1u);
  EXPECT_FALSE(anew[0].restore());
  EXPECT_EQ(anew[0].epoch(), 2u);
}

// Defect 8.
TEST_F(AtHome, APeerThatIsTooSmallIsNotTakenWhileThereAreOthers) {
  wire::pb::Manifest::Policy policy = manifest_of(1).policy();
  policy.mutable_limits()->set_memory_pages(16);  // a MiB
  begin(2, &policy);
  peers_.free_slots[id_of(kSecond)] = 2;
  let_ask(kSecond);
  EXPECT_TRUE(offer_unasked(kFirst, 2, 7, 1000).empty());
  EXPECT_EQ(home_->snapshot().running, 0u);
  EXPECT_EQ(offer_unasked(kSecond, 2, 7, 3u << 19).size(), 1u) << "memory for one of two";
  tick(seconds(1));
  EXPECT_TRUE(sent_to<&JobMessage::has_release>(kFirst));
  EXPECT_EQ(home_->snapshot().running, 1u);
}

TEST_F(AtHome, AThreadDoesNotGoBackToTheHostWhereItsWorkerDied) {
  begin(1);
  peers_.free_slots[id_of(kSecond)] = 2;
  const auto first = offer(kFirst, 2);
  status(kFirst, first, JobMessage::BEGINNING);
  take();
  status(kFirst, {}, JobMessage::BEGINNING, "out of memory");
  EXPECT_EQ(assigned(kFirst).size(), 1u) << "there is no other claim";
  begin(4);
  status_number_ = 0;
  const auto threads = offer(kFirst, 2);
  status(kFirst, threads, JobMessage::BEGINNING);
  const auto other = offer(kSecond, 2);
  ASSERT_EQ(other.size(), 2u);
  effects(kSecond, {end_of(other[0], 1)});
  take();
  status(kFirst, {threads[1]}, JobMessage::BEGINNING, "out of memory");
  const auto sent = take();
  const auto moved = std::ranges::find_if(sent, [](const auto& entry) { return entry.second.has_assign(); });
  ASSERT_NE(moved, sent.end());
  EXPECT_EQ(moved->first, id_of(kSecond));
  EXPECT_EQ(moved->second.assign().thread(), threads[0].thread());
}

TEST_F(AtHome, ASuspendedJobHasNoHostsAndGoesOnWhenItIsResumed) {
  begin(3);
  const auto threads = offer(kFirst, 2);
  status(kFirst, threads, JobMessage::BEGINNING);
  effects(kFirst, {output_of(threads[0], 1)}, 3);
  take();
  ASSERT_TRUE(home_->suspend(now_, out_));
  EXPECT_EQ(home_->suspend(now_, out_).error().kind, Kind::invalid);
  EXPECT_EQ(count<JobSuspended>(), 0u);
  tick(milliseconds(500));
  const auto asked = suspends(kFirst);
  ASSERT_EQ(asked.size(), 2u);
  suspended(kFirst, threads[0]);
  EXPECT_TRUE(sent_to<&JobMessage::has_drop>(kFirst)) << "nothing of it is needed there any more";
  EXPECT_TRUE(assigned(kFirst).empty()) << "nothing is placed";
  tick(seconds(2));
  EXPECT_GE(suspends(kFirst).size(), 1u) << "until it is answered";
  effects(kFirst, {end_of(threads[1], 1)});
  EXPECT_TRUE(sent_to<&JobMessage::has_release>(kFirst));
  EXPECT_EQ(count<JobSuspended>(), 1u);
  EXPECT_EQ(home_->record().state(), wire::pb::JobRecord::SUSPENDED);
  tick(minutes(5), seconds(5));
  EXPECT_TRUE(take().empty()) << "no slots are asked for";
  ASSERT_TRUE(home_->resume(now_, out_));
  tick(milliseconds(500));
  take();
  EXPECT_EQ(count<JobResumed>(), 1u);
  const auto again = offer(kFirst, 2, 8);
  ASSERT_EQ(again.size(), 2u);
  const auto resumed = std::ranges::find(again, threads[0].thread(), &JobMessage::Assign::thread);
  ASSERT_NE(resumed, again.end());
  EXPECT_EQ(resumed->epoch(), 2u);
  EXPECT_TRUE(resumed->restore());
  EXPECT_EQ(wire::marks_of(resumed->stored()), (StreamMarks{{kHomeStream, 1}}));
}

TEST_F(AtHome, AThreadThatWasNeverThereIsSuspendedToo) {
  begin(1);
  const auto threads = offer(kFirst, 2);
  ASSERT_TRUE(home_->suspend(now_, out_));
  status(kFirst, threads, JobMessage::GONE);
  take();
  EXPECT_EQ(count<JobSuspended>(), 1u);
}

TEST_F(AtHome, AJobIsSuspendedWhenItsLastHostIsLost) {
  peers_.free_slots[id_of(kSecond)] = 1;
  const auto first = offer(kFirst, 1);
  const auto second = offer(kSecond, 1);
  ASSERT_EQ(first.size() + second.size(), 2u);
  ASSERT_TRUE(home_->suspend(now_, out_));
  home_->on_peer_lost(now_, id_of(kFirst), out_);
  take();
  EXPECT_EQ(count<JobSuspended>(), 0u);
  home_->on_peer_lost(now_, id_of(kSecond), out_);
  take();
  EXPECT_EQ(count<JobSuspended>(), 1u);
  EXPECT_EQ(home_->snapshot().waiting, 2u);
}

TEST_F(AtHome, AJobThatWaitsForSlotsIsSuspendedAtOnceAndCanBeCancelled) {
  ASSERT_TRUE(home_->suspend(now_, out_));
  take();
  EXPECT_EQ(count<JobSuspended>(), 1u);
  EXPECT_TRUE(offer(kFirst, 2).empty());
  home_->cancel(now_, out_);
  take();
  EXPECT_EQ(count<JobOver>(), 1u);
}

// `share --cores 0` once killed the worker, and everything since the last image was done again.
TEST_F(AtHome, ThreadsOfAHostThatIsDrainedGoElsewhereFromTheirLastImages) {
  begin(1);
  peers_.free_slots[id_of(kSecond)] = 2;
  const auto threads = offer(kFirst, 2);
  status(kFirst, threads, JobMessage::BEGINNING);
  take();
  drain(kFirst, threads);
  suspended(kFirst, threads[0]);
  EXPECT_TRUE(assigned(kFirst).empty()) << "it takes no more threads";
  const auto moved = offer(kSecond, 2);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].epoch(), 2u);
  EXPECT_TRUE(moved[0].restore());
  EXPECT_EQ(count<HostLost>(), 0u);
}

// Defect: threads that had not left a claim that drained brought its slots back.
TEST_F(AtHome, HasNoMoreSlotsAfterARestartThanTheJobWants) {
  wire::pb::Manifest::Policy policy = manifest_of(2).policy();
  policy.set_slots(2);
  begin(2, &policy);
  const auto threads = offer(kFirst, 2);
  ASSERT_EQ(threads.size(), 2u);
  status(kFirst, threads, JobMessage::BEGINNING);
  drain(kFirst, threads);
  suspended(kFirst, threads[0]);
  peers_.free_slots[id_of(kSecond)] = 2;
  ASSERT_EQ(offer(kSecond, 2).size(), 1u);
  restart();
  EXPECT_EQ(home_->claims().size(), 2u);
  EXPECT_EQ(home_->claims().slots(), 2u);
}

TEST_F(AtHome, GoesOnAfterARestartWithWhatIsOnDisk) {
  const auto first = offer(kFirst, 2);
  effects(kFirst, {output_of(first[0], 1)}, 2);
  effects(kFirst, {end_of(first[1], 1)});
  take();
  HomeRecords records;
  for (const auto& [bytes, value] : records_) {
    const RecordKey key = RecordKey::decode(bytes).value();
    if (key.kind == RecordKind::job) ASSERT_TRUE(records.job.ParseFromString(value));
    if (key.kind == RecordKind::thread) ASSERT_TRUE(records.threads[key.thread].ParseFromString(value));
  }
  for (const Append& append : appends_) records.effects.push_back(append.entry.header);
  home_ = std::make_unique<job::Home>(config_, environment_, charter_, Manifest::check(as_bytes(records.job.manifest())).value());
  ASSERT_TRUE(home_->recover(now_, records));
  const JobSnapshot snapshot = home_->snapshot();
  EXPECT_EQ(snapshot.ended, 1u);
  EXPECT_EQ(snapshot.running, 1u);
  EXPECT_EQ(records.threads.at(ThreadId{first[0].thread()}).determinants(), 2u);
  // The host does not have it any more: its epoch is used up.
  status(kFirst, {}, JobMessage::BEGINNING);
  const auto again = assigned(kFirst);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].epoch(), 2u);
}

// The number of records that a start reads of a job that is over does not grow with its threads.
TEST_F(AtHome, ThreadsOfAJobThatIsOverAreBehindItsOutput) {
  constexpr std::uint32_t kTasks = 4;
  begin(kTasks);
  peers_.free_slots[id_of(kFirst)] = kTasks;
  for (const auto& assign : offer(kFirst, kTasks)) effects(kFirst, {output_of(assign, 1), end_of(assign, 2)});
  take();
  ASSERT_TRUE(home_->over());
  const EffectEntry& last = appends_.back().entry;
  ASSERT_EQ(last.header.kind, EffectKind::details);
  wire::pb::JobRecord details;
  ASSERT_TRUE(details.ParseFromString(last.bytes));
  EXPECT_EQ(details.some_size(), static_cast<int>(kTasks));
  EXPECT_EQ(details.counters().peers_size(), 1);
  const wire::pb::JobRecord record = home_->record();
  EXPECT_EQ(record.some_size(), 0);
  EXPECT_EQ(record.counters().peers_size(), 0);
  EXPECT_EQ(record.details_bytes(), last.bytes.size());
  std::uint64_t stored = 0;
  for (const Append& append : appends_) stored += append.entry.header.stored_bytes();
  EXPECT_EQ(record.stored_bytes(), stored);
}

}  // namespace home_test
}  // namespace gw::job
