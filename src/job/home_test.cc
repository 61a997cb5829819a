#include "job/home.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "job/records.h"
#include "job/test/fake_peers.h"
#include "job/test/signers.h"

namespace gw::job {
namespace home_test {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::id_of;

constexpr std::uint8_t kHomePeer = 1, kFirst = 2, kSecond = 3, kKeeperPeer = 4;

wire::pb::Manifest manifest_of(std::uint32_t tasks) {
  wire::pb::Manifest manifest;
  manifest.mutable_module()->set_hash(std::string(32, 'm'));
  manifest.mutable_module()->set_size(1);
  manifest.mutable_module()->add_chunks(std::string(32, 'm'));
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  manifest.mutable_policy()->set_slots(4);
  manifest.mutable_policy()->set_max_failures(5);
  manifest.mutable_policy()->set_checkpoint_every_ns(1'000'000'000);
  for (std::uint32_t task = 0; task < tasks; ++task) manifest.add_tasks();
  return manifest;
}

// A home whose disk answers at once, and hosts that say what a test lets them say.
class AtHome : public testing::Test {
 protected:
  AtHome() {
    peers_.free_slots = {{id_of(kFirst), 2}, {id_of(kKeeperPeer), 0}};
    begin(2);
  }

  void begin(std::uint32_t tasks, const wire::pb::Manifest::Policy* policy = nullptr) {
    wire::pb::Manifest manifest = manifest_of(tasks);
    if (policy != nullptr) *manifest.mutable_policy() = *policy;
    const Bytes bytes = Manifest::encode(manifest);
    home_ = std::make_unique<job::Home>(config_, environment_, charter_, Manifest::check(bytes).value());
    home_->begin(now_, bytes, out_);
    take();
  }

  // What home wants sent, since this was called last.
  std::vector<std::pair<PeerId, JobMessage>> take() {
    std::vector<std::pair<PeerId, JobMessage>> sent;
    for (std::vector<Action>* list : {&out_.now, &out_.later})
      for (Action& action : *list) {
        if (auto* send = std::get_if<Send>(&action)) sent.emplace_back(send->to, std::move(*send->message.mutable_job()));
        if (auto* notify = std::get_if<Notify>(&action)) events_.push_back(std::move(notify->event));
      }
    for (Append& append : out_.appends) appends_.push_back(std::move(append));
    for (Record& record : out_.records) {
      records_.erase(record.key);
      if (record.value) records_[record.key] = *record.value;
    }
    out_ = {};
    return sent;
  }

  std::vector<JobMessage::Assign> assigned(std::uint8_t host) {
    std::vector<JobMessage::Assign> list;
    for (const auto& [to, message] : take())
      if (to == id_of(host) && message.has_assign()) list.push_back(message.assign());
    return list;
  }

  std::vector<JobMessage::Assign> offer(std::uint8_t host, std::uint32_t slots, std::uint64_t claim = 7, std::uint64_t memory = 0) {
    JobMessage::Offer offer;
    offer.set_claim(claim);
    offer.set_slots(slots);
    offer.set_memory_bytes(memory);
    home_->on_offer(now_, id_of(host), offer, out_);
    return assigned(host);
  }

  void status(std::uint8_t host, const std::vector<JobMessage::Assign>& held, JobMessage::StartState state, const std::string& failure = "",
              std::uint64_t progress = 0) {
    JobMessage::Status status;
    status.set_claim(7);
    status.set_number(++status_number_);
    status.set_failure(failure);
    status.set_progress(progress);
    for (const JobMessage::Assign& assign : held) {
      JobMessage::Status::Held& one = *status.add_held();
      one.set_thread(assign.thread());
      one.set_epoch(assign.epoch());
      one.set_start_state(state);
    }
    home_->on_status(now_, id_of(host), status, out_);
  }

  static Effect output_of(const JobMessage::Assign& assign, std::uint64_t sequence) {
    Effect effect;
    effect.set_thread(assign.thread());
    effect.set_epoch(assign.epoch());
    effect.set_sequence(sequence);
    effect.mutable_output()->set_stream(1);
    effect.mutable_output()->set_bytes("x");
    return effect;
  }
  static Effect end_of(const JobMessage::Assign& assign, std::uint64_t sequence, Effect::End::Reason reason = Effect::End::EXITED) {
    Effect effect = output_of(assign, sequence);
    effect.mutable_end()->set_reason(reason);
    return effect;
  }

  void effects(std::uint8_t host, const std::vector<Effect>& list, std::uint64_t determinants = 0) {
    JobMessage::Effects message;
    message.set_thread(list.front().thread());
    message.set_epoch(list.front().epoch());
    message.set_start_state(JobMessage::BEGINNING);
    message.set_determinants(determinants);
    for (const Effect& effect : list) *message.add_effects() = effect;
    home_->on_effects(now_, id_of(host), message, out_);
  }

  void fail_at(std::uint8_t host, const JobMessage::Assign& assign) {
    JobMessage::ThreadName name;
    name.set_thread(assign.thread());
    name.set_epoch(assign.epoch());
    name.set_failure("it cannot run");
    home_->on_thread_failed(now_, id_of(host), name, out_);
  }

  void tick(Time time, milliseconds step = milliseconds(500)) {
    for (const Time until = now_ + time; now_ < until;) {
      now_ += step;
      home_->on_tick(now_, out_);
    }
  }

  template <class Event>
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(events_, [](const job::Event& event) { return std::holds_alternative<Event>(event); }));
  }

  Time now_{seconds(100)};
  const Charter charter_ = test::charter_of(kHomePeer);
  const PublicKey key_ = test::key_of(kHomePeer);
  const test::TestSigner signer_{kHomePeer};
  test::FakePeers peers_;
  Rng rng_{1};
  job::Home::Config config_;
  const job::Home::Environment environment_{id_of(kHomePeer), 1, Time(0), peers_, key_, signer_, rng_};
  std::unique_ptr<job::Home> home_;
  std::uint64_t status_number_ = 0;
  Actions out_;
  std::vector<Event> events_;
  std::map<std::string, std::string> records_;
  std::vector<Append> appends_;
};

TEST_F(AtHome, PlacesThreadsAsSoonAsThereAreSlots) {
  tick(milliseconds(500));
  const auto asked = take();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].second.reserve().slots(), 2u);
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

TEST_F(AtHome, AThreadThatTheHostDoesNotTakeIsPlacedInANewEpoch) {
  const auto first = offer(kFirst, 2);
  status(kFirst, {first[0]}, JobMessage::GONE);
  const auto again = assigned(kFirst);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].thread(), first[0].thread());
  EXPECT_EQ(again[0].epoch(), 2u);
}

// Defect 4: one host's word failed a thread for good.
TEST_F(AtHome, AsksAnotherHostBeforeAThreadIsGivenUp) {
  begin(1);
  peers_.free_slots[id_of(kSecond)] = 2;
  const auto first = offer(kFirst, 2);
  ASSERT_EQ(first.size(), 1u);
  fail_at(kFirst, first[0]);
  EXPECT_EQ(count<ThreadFailed>(), 0u);
  const auto again = assigned(kFirst);
  ASSERT_EQ(again.size(), 1u) << "there is nobody else yet";
  home_->on_peer_lost(now_, id_of(kFirst), out_);
  take();
  const auto elsewhere = offer(kSecond, 2);
  ASSERT_EQ(elsewhere.size(), 1u);
  fail_at(kSecond, elsewhere[0]);
  take();
  EXPECT_EQ(count<ThreadFailed>(), 1u) << "two hosts agree";
  EXPECT_EQ(count<JobOver>(), 1u);
}

TEST_F(AtHome, GivesAThreadUpAfterSomeReportsOfOneHost) {
  begin(1);
  auto assign = offer(kFirst, 2);
  for (std::uint32_t report = 1; report < config_.faults; ++report) {
    fail_at(kFirst, assign[0]);
    assign = assigned(kFirst);
    ASSERT_EQ(assign.size(), 1u);
  }
  fail_at(kFirst, assign[0]);
  take();
  EXPECT_EQ(count<ThreadFailed>(), 1u);
}

TEST_F(AtHome, AnEffectAfterTheEndIsRefused) {
  const auto first = offer(kFirst, 2);
  effects(kFirst, {end_of(first[0], 1)});
  effects(kFirst, {output_of(first[0], 2)});
  effects(kFirst, {end_of(first[0], 2)});
  take();
  EXPECT_EQ(count<PeerRefused>(), 2u);
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

// Defect 4: a host that took threads and never did anything held the job for ever.
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
    if (message.has_reserve()) EXPECT_EQ(to, id_of(kSecond)) << "not there again, as long as there is somebody else";
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

// Defect 5: a thread whose host and keeper were away for a minute began anew, although its effects were stored.
TEST_F(AtHome, AThreadWithStoredEffectsWaitsForItsKeeper) {
  begin(1);
  const auto first = offer(kFirst, 2);
  ASSERT_EQ(first[0].keeper(), id_of(kKeeperPeer).bytes());
  effects(kFirst, {output_of(first[0], 1)}, 3);
  peers_.free_slots.clear();
  home_->on_peer_lost(now_, id_of(kKeeperPeer), out_);
  home_->on_peer_lost(now_, id_of(kFirst), out_);
  peers_.free_slots[id_of(kSecond)] = 2;
  tick(minutes(30), seconds(5));
  EXPECT_TRUE(offer(kSecond, 2).empty());
  const JobSnapshot waiting = home_->snapshot();
  EXPECT_EQ(waiting.waiting, 1u);
  EXPECT_EQ(waiting.threads[0].reason, Reason::keeper_away);
  peers_.free_slots[id_of(kKeeperPeer)] = 0;
  tick(seconds(1));
  take();
  const auto resumed = offer(kSecond, 2);
  ASSERT_EQ(resumed.size(), 1u);
  EXPECT_TRUE(resumed[0].restore());
  EXPECT_EQ(resumed[0].keeper(), id_of(kKeeperPeer).bytes());
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
  EXPECT_TRUE(offer(kFirst, 2, 7, 1000).empty());
  EXPECT_EQ(home_->snapshot().running, 0u);
  EXPECT_EQ(offer(kSecond, 2, 7, 3u << 19).size(), 1u) << "memory for one of two";
}

TEST_F(AtHome, AThreadDoesNotGoBackToTheHostWhereItsWorkerDied) {
  begin(1);
  peers_.free_slots[id_of(kSecond)] = 2;
  const auto first = offer(kFirst, 2);
  status(kFirst, first, JobMessage::BEGINNING);
  take();
  status(kFirst, {}, JobMessage::BEGINNING, "out of memory");
  EXPECT_EQ(assigned(kFirst).size(), 1u) << "there is no other claim";
  begin(3);
  status_number_ = 0;
  const auto threads = offer(kFirst, 2);
  status(kFirst, threads, JobMessage::BEGINNING);
  const auto other = offer(kSecond, 2);
  ASSERT_EQ(other.size(), 1u);
  take();
  status(kFirst, {threads[1]}, JobMessage::BEGINNING, "out of memory");
  const auto sent = take();
  const auto moved = std::ranges::find_if(sent, [](const auto& entry) { return entry.second.has_assign(); });
  ASSERT_NE(moved, sent.end());
  EXPECT_EQ(moved->first, id_of(kSecond));
  EXPECT_EQ(moved->second.assign().thread(), threads[0].thread());
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

}  // namespace home_test
}  // namespace gw::job
