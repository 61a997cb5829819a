#include "peer/peer.h"

#include <array>

#include "peer/test/lonely_peer.h"
#include "peer/test/searches.h"

namespace gw::peer {
namespace peer_test {

TEST_F(LonelyPeer, RunsAJobOnItsOwnSlots) {
  const JobId job = submit(2);
  EXPECT_EQ(count<job::JobAccepted>(), 1u);
  tick(milliseconds(2000));
  wire::pb::FromWorker loaded;
  loaded.mutable_loaded();
  say(loaded);
  const job::JobSnapshot running = peer_->homes().at(job)->snapshot();
  EXPECT_EQ(running.running, 2u);
  EXPECT_EQ(running.record.name(), "program");
  ASSERT_EQ(running.peers.size(), 1u);
  EXPECT_EQ(running.peers[0].slots, 2u);
  say(end_of(job::thread_of_task(1, 2), 3));
  say(end_of(job::thread_of_task(0, 2), 0));
  EXPECT_EQ(count<job::JobOver>(), 1u);
  const wire::pb::JobRecord* record = peer_->past().find(job);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->exit_code(), 3u);
  wire::pb::JobRecord details;
  ASSERT_TRUE(details.ParseFromString(appends_.back().entry.bytes));
  const job::JobSnapshot over = job::snapshot_of(details);
  EXPECT_EQ(over.record.exit_code(), 3u);
  EXPECT_EQ(over.ended, 1u);
  EXPECT_EQ(over.failed, 1u);
  ASSERT_EQ(over.threads.size(), 2u);
  EXPECT_EQ(over.threads[1].task, 1u);
  EXPECT_EQ(over.threads[1].exit_code, 3u);
  EXPECT_EQ(over.peers.at(0).finished, 2u);
}

TEST_F(LonelyPeer, TakesOneAnswerOfTheDiskForAllBatchesBeforeIt) {
  answers_disk_ = false;
  submit(1);
  submit(2);
  EXPECT_GE(unanswered_, 2u);  // a batch of each, at least
  EXPECT_EQ(count<job::JobAccepted>(), 0u);
  answer_disk();
  EXPECT_EQ(count<job::JobAccepted>(), 2u);
}

// Messages that wait for the disk were limited in number only: a peer that asks with long lists filled the memory.
TEST_F(LonelyPeer, TheBytesOfMessagesThatWaitForTheDiskAreLimited) {
  answers_disk_ = false;
  submit(1);
  JobMessage ask;
  for (std::uint64_t i = 0; i < 16384; ++i) {
    JobMessage::KeptName& kept = *ask.mutable_ask_kept()->add_threads();
    kept.set_thread(~i);
    kept.set_epoch(1u << 30);
    kept.set_keeper_generation(~i);
  }
  const PeerMessage question = about({sha256(as_bytes("an unknown job"))}, ask);
  others_.clear();
  for (int i = 0; i < 100; ++i) hear(7, question);
  answer_disk();
  std::size_t bytes = 0;
  for (const Action& action : others_)
    if (const auto* send = std::get_if<job::Send>(&action)) bytes += send->message.ByteSizeLong();
  EXPECT_GT(bytes, 1u << 20);
  EXPECT_LT(bytes, 33u << 20);
}

TEST_F(LonelyPeer, AFullDiskTakesNothingNewAndWhatRunsGoesOnWhenThereIsRoom) {
  const auto set_full = [&](bool full) { give([&](Peer& peer, std::vector<Action>& out) { peer.on_disk(now_, DiskRoom{full}, out); }); };
  const JobId job = submit(1);
  tick(milliseconds(2000));
  wire::pb::FromWorker loaded;
  loaded.mutable_loaded();
  say(loaded);
  set_full(true);
  EXPECT_NE(submit(2), job);
  EXPECT_EQ(count<job::JobRefused>(), 1u);
  EXPECT_EQ(count<job::JobAccepted>(), 1u);
  EXPECT_EQ(peer_->grids().main()->overlay.self().free_slots, 1u) << "other homes ask, and hear that the disk is full";
  say(end_of(job::kMainThread, 0));
  EXPECT_EQ(count<job::JobOver>(), 0u) << "an effect was taken";
  set_full(false);
  tick(milliseconds(3000));
  EXPECT_EQ(count<job::JobOver>(), 1u);
}

TEST_F(LonelyPeer, ForgetsAJobThatIsOverOnRequest) {
  const JobId job = submit(1);
  give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, Forget{job}, out); });
  EXPECT_TRUE(peer_->homes().contains(job)) << "it runs";
  give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, Cancel{job}, out); });
  ASSERT_NE(peer_->past().find(job), nullptr);
  give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, Forget{job}, out); });
  EXPECT_EQ(peer_->past().find(job), nullptr);
  EXPECT_TRUE(std::ranges::any_of(others_, [](const Action& action) { return std::holds_alternative<job::DropOutput>(action); }));
}

// A lost host costs the work since the last image, so an image that is due must not wait for another timer.
TEST_F(LonelyPeer, AsksForAnImageWhenItIsDue) {
  checkpoint_every_ = milliseconds(130);
  submit(1);
  tick(milliseconds(2000));
  wire::pb::FromWorker loaded;
  loaded.mutable_loaded();
  say(loaded);
  const job::Time due = now_ + checkpoint_every_;
  const auto asked = [&] {
    return std::ranges::any_of(others_, [](const Action& action) {
      const auto* frame = std::get_if<job::FrameToWorker>(&action);
      return frame != nullptr && frame->frame.has_checkpoint();
    });
  };
  while (!asked() && peer_->next_deadline() <= due) {
    now_ = std::max(now_ + milliseconds(1), peer_->next_deadline());
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_tick(now_, out); });
  }
  EXPECT_TRUE(asked());
}

// Every job of this peer asks for the list every 0.8 seconds.
TEST_F(LonelyPeer, TheListOfLivePeersIsMadeOncePerChange) {
  const Grid& grid = *peer_->grids().main();
  const auto* list = &grid.all_alive();
  const auto* first = list->data();
  EXPECT_EQ(list->front().free_slots, 2u);
  EXPECT_EQ(grid.all_alive().data(), first);
  give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, SetSlots{.slots = 5}, out); });
  EXPECT_EQ(grid.all_alive().front().free_slots, 5u);
}

class PeerWithInput : public LonelyPeer {
 protected:
  PeerWithInput() {
    standard_input_ = true;
    job_ = submit(1);
    run();
  }

  // Runs until the worker has started, in the first boot of the peer or a later one.
  void run() {
    tick(milliseconds(3000));
    wire::pb::FromWorker loaded;
    loaded.mutable_loaded();
    say(loaded);
  }
  void want(std::uint64_t piece) {
    wire::pb::FromWorker frame;
    frame.mutable_want_input()->set_thread(job::kMainThread.value());
    frame.mutable_want_input()->set_piece(piece);
    say(frame);
  }
  void supply(std::uint64_t piece, const std::string& bytes) {
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, SupplyInput{job_, piece, bytes}, out); });
  }
  // The input given to the worker since the last call.
  std::vector<std::string> take_input() {
    std::vector<std::string> pieces;
    for (const Action& action : std::exchange(others_, {}))
      if (const auto* frame = std::get_if<job::FrameToWorker>(&action); frame != nullptr && frame->frame.has_input())
        pieces.push_back(frame->frame.input().end() ? "end" : frame->frame.input().bytes());
    return pieces;
  }

  JobId job_;
};

TEST_F(PeerWithInput, GivesAPieceWhenItIsWantedAndNotBefore) {
  EXPECT_EQ(count<job::InputWanted>(), 0u);
  want(0);
  EXPECT_EQ(count<job::InputWanted>(), 1u);
  tick(milliseconds(5000));  // asked again, and users are not notified again
  EXPECT_EQ(count<job::InputWanted>(), 1u);
  EXPECT_TRUE(take_input().empty());
  supply(0, "first");
  EXPECT_EQ(take_input(), std::vector<std::string>{"first"});
  EXPECT_EQ(count<job::InputStored>(), 1u);
  want(1);
  supply(1, "");
  EXPECT_EQ(take_input(), std::vector<std::string>{"end"});
}

TEST_F(PeerWithInput, GivesTheSamePiecesToAReplay) {
  for (std::uint64_t piece = 0; piece < 3; ++piece) {
    want(piece);
    supply(piece, "piece " + std::to_string(piece));
  }
  start();
  run();
  take_input();
  for (std::uint64_t piece = 0; piece < 3; ++piece) {
    want(piece);
    EXPECT_EQ(take_input(), std::vector<std::string>{"piece " + std::to_string(piece)});
  }
  want(3);
  EXPECT_TRUE(take_input().empty());
  supply(3, "next");
  EXPECT_EQ(take_input(), std::vector<std::string>{"next"});
}

TEST_F(PeerWithInput, RefusesInputThatIsNotNextOrHasNoReader) {
  supply(4, "too early");
  EXPECT_EQ(count<job::InputRefused>(), 1u);
  job_ = {sha256(as_bytes("another job"))};
  supply(0, "for nobody");
  EXPECT_EQ(count<job::InputRefused>(), 2u);
  standard_input_ = false;
  job_ = submit(2);
  supply(0, "for an array");
  EXPECT_EQ(count<job::InputRefused>(), 3u);
}

TEST_F(LonelyPeer, LendsLessAtOnceAndSaysWhyThreadsWait) {
  const JobId id = submit(4);
  tick(milliseconds(1500));
  ASSERT_EQ(peer_->slots().free_slots(), 0u);
  const auto set_slots = [&](std::uint32_t slots) {
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, SetSlots{.slots = slots, .vacate = {}}, out); });
  };
  set_slots(0);
  EXPECT_EQ(peer_->slots().find(id), nullptr);
  EXPECT_TRUE(peer_->hosted_jobs().empty());
  tick(milliseconds(5000));
  const job::JobSnapshot idle = peer_->homes().at(id)->snapshot();
  EXPECT_EQ(idle.waiting, 4u) << "nothing is lost but the place";
  for (const job::ThreadView& thread : idle.threads) EXPECT_EQ(thread.why.reason, Reason::no_peers);
  set_slots(1);
  tick(milliseconds(5000));
  ASSERT_NE(peer_->slots().find(id), nullptr);
  EXPECT_EQ(peer_->slots().find(id)->slots, 1u);
  EXPECT_GT(peer_->homes().at(id)->snapshot().running, 0u);
}

// Another home asks for slots for a job of that user.
class PeerWithUsers : public LonelyPeer {
 protected:
  enum class Held : std::uint8_t { no, yes };
  JobMessage ask(std::uint8_t user, std::uint32_t slots, std::string_view needs = {}, Held held = Held::no,
                 std::uint64_t submitted_at = 1) {
    wire::pb::JobCharter charter;
    charter.set_nonce(submitted_at);
    charter.set_first_home(peer_id(1).bytes());
    charter.set_manifest(std::string(32, 'm'));
    const Bytes bytes = job::Charter::sign(charter, SigningKey(sha256(std::array{user}).bytes));
    job_ = {sha256(bytes)};
    JobMessage::Query query;
    query.set_held(held == Held::yes);
    query.set_submitted_at_ns(static_cast<std::uint64_t>(now_.count()) + submitted_at);
    if (!needs.empty()) *query.mutable_needs() = job::parse_requirements(needs).value();
    const overlay::TestSigner signer(overlay::test_key(1));
    const test::Searcher searcher{signer, overlay::test_key(1)};
    others_.clear();
    hear(1, about(job_, searcher.search(job::Charter::check(bytes).value(), ++round_, slots, query)));
    for (const Action& action : others_)
      if (const auto* send = std::get_if<job::Send>(&action);
          send != nullptr && (send->message.job().has_offer() || send->message.job().has_decline()))
        return send->message.job();
    return {};
  }
  void claim(const JobMessage& offer) {
    JobMessage claim;
    claim.mutable_claim()->set_claim(offer.offer().claim());
    hear(1, about(job_, claim));
  }
  void set_rules(job::LendingRules rules) {
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, SetSlots{.slots = 2, .vacate = {}, .rules = rules}, out); });
  }
  static job::LendingRules idle_only() { return {.audience = {.anyone = true}, .when = job::LendingTimes::parse("idle").value()}; }
  void set_idle(job::Time time) {
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, SetConditions{{.owner_idle = time, .known = true}}, out); });
  }

  JobId job_;
  std::uint64_t round_ = test::Searcher::kFirstRound;
};

TEST_F(PeerWithUsers, TheSecondUserSharesTheSlotsThatTheFirstHolds) {
  EXPECT_EQ(ask(1, 2).offer().slots(), 2u);
  EXPECT_EQ(ask(2, 2).offer().slots(), 1u);
  EXPECT_EQ(peer_->grids().main()->overlay.self().free_slots, 0u) << "a third user would share them all the same";
}

// A lender of one slot that users could share announced one slot at all times, so that nobody noticed when it became free.
TEST_F(PeerWithUsers, ASlotThatBecomesFreeIsAnnounced) {
  give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, SetSlots{.slots = 1, .vacate = {}}, out); });
  const auto announced = [&] { return peer_->grids().main()->overlay.self().free_slots; };
  const JobMessage offer = ask(1, 1);
  EXPECT_EQ(announced(), 0u);
  JobMessage release;
  release.mutable_release()->set_claim(offer.offer().claim());
  hear(1, about(job_, release));
  EXPECT_EQ(announced(), 1u);
}

// A thousand jobs that wait would all search for the one slot that another one gave back, or that a peer announces.
TEST_F(LonelyPeer, TellsOfSlotsAsManyJobsAsMayGetThem) {
  const Grid& grid = *peer_->grids().main();
  std::vector<std::uint64_t> marks(1000);
  for (std::uint64_t& mark : marks) grid.opened_since(mark);
  grid.on_given_back(peer_id(7), 2);
  std::size_t told = 0;
  for (std::uint64_t& mark : marks) told += grid.opened_since(mark) == std::vector{peer_id(7)} ? 1 : 0;
  EXPECT_GT(told, 2u);
  EXPECT_LT(told, 100u);
  grid.on_given_back(peer_id(7), 2);
  EXPECT_EQ(grid.opened_since(marks[0]), std::vector{peer_id(7)}) << "there are slots again";
  EXPECT_TRUE(grid.opened_since(marks[0]).empty());
}

TEST_F(PeerWithUsers, AJobThatTheRulesForbidGetsTheReason) {
  set_rules({});
  EXPECT_EQ(ask(1, 2).decline().sentence(), "it lends only to jobs of its owner and to its private grids");
  set_rules(idle_only());
  set_idle(milliseconds(0));
  EXPECT_EQ(ask(1, 2).decline().sentence(), "its owner uses it, and it lends only while it is idle");
  EXPECT_EQ(peer_->grids().main()->overlay.self().free_slots, 0u) << "nobody need ask";
  set_idle(std::chrono::hours(1));
  EXPECT_EQ(ask(1, 2).offer().slots(), 2u);
}

TEST_F(PeerWithUsers, AnOlderJobGetsTheSlotsThatAYoungerOneHolds) {
  const JobMessage younger = ask(1, 2, {}, Held::yes, 9);
  const JobId job = job_;
  JobMessage claim;
  claim.mutable_claim()->set_claim(younger.offer().claim());
  claim.mutable_claim()->set_held(true);
  claim.mutable_claim()->set_round(1);
  hear(1, about(job, claim));
  EXPECT_TRUE(peer_->hosted_jobs().empty());
  EXPECT_EQ(ask(1, 2, {}, Held::yes, 10).decline().why(), JobMessage::Decline::BUSY);
  EXPECT_EQ(ask(1, 2, {}, Held::yes, 8).offer().slots(), 2u);
  const bool told = std::ranges::any_of(others_, [&](const Action& action) {
    const auto* send = std::get_if<job::Send>(&action);
    return send != nullptr && send->message.job().wounded().claim() == younger.offer().claim() &&
           JobId::from(send->message.job().job()) == job;
  });
  EXPECT_TRUE(told);
}

TEST_F(PeerWithUsers, AJobThatNeedsMoreThanThisMachineHasGetsBothNumbersAndNoSlot) {
  const auto measured = [&](std::uint32_t speed, std::string workers_fail) {
    job::Capacity capacity;
    capacity.set_speed(speed);
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, SetCapacity{capacity, workers_fail}, out); });
  };
  EXPECT_EQ(ask(1, 2, "speed=0.5").decline().sentence(), "needs a speed of 0.5, this peer has not measured its own yet");
  measured(400, "");
  EXPECT_EQ(ask(1, 2, "speed=0.5").decline().sentence(), "needs a speed of 0.5, this peer has 0.4");
  EXPECT_EQ(peer_->slots().free_slots(), 2u) << "nothing was reserved";
  measured(400, "libuv.so.1 is missing");
  EXPECT_EQ(ask(1, 2).decline().sentence(), "its workers cannot start: libuv.so.1 is missing");
  EXPECT_EQ(peer_->grids().main()->overlay.self().free_slots, 2u) << "others ask, and hear the reason";
  measured(600, "");
  const JobMessage offer = ask(1, 2, "speed=0.5");
  EXPECT_EQ(offer.offer().slots(), 2u);
  EXPECT_EQ(offer.offer().capacity().speed(), 600u);
}

TEST_F(PeerWithUsers, AJobLeavesWhenTheOwnerComesBack) {
  set_rules(idle_only());
  set_idle(std::chrono::hours(1));
  claim(ask(1, 2));
  ASSERT_EQ(peer_->hosted_jobs().size(), 1u);
  set_idle(milliseconds(0));
  EXPECT_TRUE(peer_->hosted_jobs().empty()) << "it had no threads, so it left at once";
  EXPECT_EQ(peer_->slots().find(job_), nullptr);
}

// A peer that offered slots in the name of any others displaced the partners of a home.
TEST_F(LonelyPeer, APeerThatOffersSlotsIntroducesItselfOnly) {
  const JobId job = submit(4, "one");
  const auto offer = [&](std::uint8_t from, std::uint8_t described) {
    const overlay::TestSigner signer(overlay::test_key(described));
    JobMessage message;
    message.mutable_offer()->set_claim(1);
    message.mutable_offer()->set_slots(1);
    message.mutable_offer()->set_round(1);
    *message.mutable_offer()->mutable_host() = test::Searcher{signer, overlay::test_key(described)}.descriptor();
    hear(from, about(job, message));
  };
  const auto knows = [&](std::uint8_t peer) { return peer_->grids().find(wire::open_grid("one"))->overlay.find(peer_id(peer)) != nullptr; };
  offer(7, 8);
  EXPECT_FALSE(knows(8));
  offer(7, 7);
  EXPECT_TRUE(knows(7));
}

TEST_F(LonelyPeer, KnowsAfterARestartHowThreadsHaveEnded) {
  const JobId job = submit(2);
  tick(milliseconds(2000));
  wire::pb::FromWorker loaded;
  loaded.mutable_loaded();
  say(loaded);
  say(end_of(job::thread_of_task(1, 2), 3));
  start();
  const job::JobSnapshot snapshot = peer_->homes().at(job)->snapshot();
  EXPECT_EQ(snapshot.failed, 1u);
  EXPECT_EQ(snapshot.threads.at(1).exit_code, 3u);
  EXPECT_EQ(snapshot.record.exit_code(), 3u);
  EXPECT_EQ(snapshot.peers.at(0).finished, 1u);
}

TEST_F(LonelyPeer, TheSameManifestIsTheSameJobAlsoWhenItIsOver) {
  const JobId job = submit(1);
  give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, Cancel{job}, out); });
  EXPECT_EQ(count<job::JobOver>(), 1u);
  submit(1);
  EXPECT_EQ(count<job::JobAccepted>(), 2u);
  EXPECT_TRUE(peer_->homes().empty());
  start();
  submit(1);
  EXPECT_TRUE(peer_->homes().empty());
}

TEST_F(LonelyPeer, AJobWhoseBlobsAreMissingIsRefusedByName) {
  wire::pb::Manifest manifest;
  manifest.mutable_module()->set_hash(std::string(32, 'm'));
  manifest.mutable_module()->set_size(1);
  manifest.mutable_module()->add_chunks(std::string(32, 'm'));
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  manifest.mutable_policy()->set_slots(1);
  submit(manifest);
  ASSERT_EQ(count<job::JobRefused>(), 1u);
  EXPECT_EQ(std::get<job::JobRefused>(events_.back()).error.kind, Kind::not_found);
}

TEST_F(LonelyPeer, AJobOfAGridItIsNotInIsRefused) {
  wire::pb::Manifest manifest;
  manifest.mutable_module()->set_hash(std::string(32, 'm'));
  manifest.mutable_module()->set_size(1);
  manifest.mutable_module()->add_chunks(std::string(32, 'm'));
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  manifest.mutable_policy()->set_slots(1);
  submit(manifest, "three");
  ASSERT_EQ(count<job::JobRefused>(), 1u);
  EXPECT_NE(std::get<job::JobRefused>(events_.back()).error.detail.find("is not in grid"), std::string::npos);
  submit(manifest, "two");
  ASSERT_EQ(count<job::JobRefused>(), 2u);
  EXPECT_NE(std::get<job::JobRefused>(events_.back()).error.detail.find("blob"), std::string::npos)
      << "the grid is right, the module missing";
}

TEST_F(LonelyPeer, AJobWhoseCharterNamesAnotherHomeIsRefused) {
  wire::pb::Manifest manifest;
  submit(manifest, "", 7);
  ASSERT_EQ(count<job::JobRefused>(), 1u);
  EXPECT_NE(std::get<job::JobRefused>(events_.back()).error.detail.find("as the home of the job"), std::string::npos);
}

TEST_F(LonelyPeer, AnswersInTheGridItIsAskedIn) {
  const overlay::TestSigner other(overlay::test_key(7));
  for (const char* name : {"two", "three"}) {
    others_.clear();
    PeerMessage message;
    message.mutable_overlay()->set_grid(wire::open_grid(name).bytes());
    overlay::Descriptor self = overlay::test_peer(7);
    sign(wire::open_grid(name), other, self);
    write(self, *message.mutable_overlay()->mutable_gossip()->mutable_self());
    hear(7, message);
    std::vector<std::string> grids;
    for (const Action& action : others_)
      if (const auto* send = std::get_if<job::Send>(&action); send != nullptr && send->message.overlay().has_gossip_reply())
        grids.push_back(send->message.overlay().grid());
    const bool ours = std::string(name) == "two";
    EXPECT_EQ(grids, ours ? std::vector{wire::open_grid("two").bytes()} : std::vector<std::string>()) << name;
  }
  EXPECT_TRUE(peer_->grids().find(wire::open_grid("two"))->alive(peer_id(7)));
  EXPECT_FALSE(peer_->grids().find(wire::open_grid("one"))->alive(peer_id(7)));
}

TEST_F(LonelyPeer, ARestartedPeerDialsTheRememberedAddresses) {
  const overlay::TestSigner other(overlay::test_key(7));
  PeerMessage message;
  message.mutable_overlay()->set_grid(wire::open_grid("one").bytes());
  overlay::Descriptor self = overlay::test_peer(7);
  sign(wire::open_grid("one"), other, self);
  write(self, *message.mutable_overlay()->mutable_gossip()->mutable_self());
  hear(7, message);
  give([&](Peer& peer, std::vector<Action>& out) { peer.leave(now_, out); });
  others_.clear();
  start();
  tick(milliseconds(5000));
  EXPECT_TRUE(std::ranges::any_of(others_, [&](const Action& action) {
    const auto* dial = std::get_if<job::Connect>(&action);
    return dial != nullptr && dial->address == self.address;
  }));
}

TEST_F(LonelyPeer, RefusesAPeerThatSendsForAThreadItDoesNotHost) {
  const JobId job = submit(1);
  tick(milliseconds(2000));
  JobMessage message;
  message.mutable_effects()->set_thread(1);
  message.mutable_effects()->set_epoch(1);
  *message.mutable_effects()->add_effects() = end_of(job::kMainThread, 0).effects().effects(0);
  hear(7, about(job, message));
  ASSERT_EQ(refusals().size(), 1u);
  EXPECT_EQ(refusals()[0], "it speaks for threads of a job of which it is no host");
  EXPECT_TRUE(peer_->homes().contains(job));
}

TEST_F(LonelyPeer, RefusesOrdersOfAPeerThatIsNotHome) {
  const JobId job = submit(1);
  tick(milliseconds(2000));
  JobMessage message;
  message.mutable_drop()->set_thread(1);
  message.mutable_drop()->set_epoch(1);
  hear(7, about(job, message));
  ASSERT_EQ(refusals().size(), 1u);
  EXPECT_EQ(refusals()[0], "it gave orders for a job whose home it is not");
}

TEST_F(LonelyPeer, RefusesAMessageOfAnOlderLife) {
  JobMessage message;
  message.mutable_want_roster();
  const PeerMessage question = about(submit(1), message);
  hear(7, question, 3);
  hear(7, question, 2);
  ASSERT_EQ(refusals().size(), 2u);
  EXPECT_EQ(refusals()[0], "it takes no part in the job it speaks of");
  EXPECT_EQ(refusals()[1], "it sent a message of its life 2, which is over");
}

TEST_F(LonelyPeer, KillsAWorkerThatSendsForAThreadItWasNotGiven) {
  submit(1);
  tick(milliseconds(2000));
  wire::pb::FromWorker loaded;
  loaded.mutable_loaded();
  say(loaded);
  others_.clear();
  say(end_of(ThreadId{99}, 0));
  EXPECT_TRUE(std::ranges::any_of(others_, [](const Action& action) { return std::holds_alternative<job::KillWorker>(action); }));
}

}  // namespace peer_test
}  // namespace gw::peer
