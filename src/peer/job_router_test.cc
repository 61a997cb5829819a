#include "peer/job_router.h"

#include <gtest/gtest.h>

#include "job/test/signers.h"
#include "peer/test/searches.h"

namespace gw::peer {
namespace {

using job::test::charter_of;
using job::test::id_of;
using job::test::key_of;
using job::test::TestSigner;

constexpr std::uint8_t kSelf = 1, kHome = 2, kHost = 3, kKeeper = 4, kStranger = 5;

class NobodyElse final : public job::LivePeers, public job::GridRules {
 public:
  bool alive(const PeerId&) const override { return true; }
  const std::vector<LivePeer>& all_alive() const override { return lenders; }
  std::vector<Neighbour> neighbours() const override {
    std::vector<Neighbour> list;
    for (const LivePeer& lender : lenders) list.push_back({lender.peer, Time(1)});
    return list;
  }
  std::vector<PeerId> opened_since(std::uint64_t&) const override { return {}; }
  void on_given_back(const PeerId&, std::uint32_t) const override {}
  Time distance(const PeerId&) const override { return Time(1); }
  std::string network(const PeerId&) const override { return ""; }
  wire::pb::Descriptor introduction() const override { return {}; }
  Status may_run(Time, const PeerId& peer, const std::optional<wire::GridId>&) const override {
    return peer == outside ? Status(fail(Kind::invalid, "it is no member")) : ok();
  }
  PeerId outside;
  std::vector<LivePeer> lenders;
};

// The router of a peer that knows one job, led by another peer, with a host and itself and another one as keepers.
class Router : public testing::Test {
 protected:
  Router() {
    authorities_.add(charter_);
    leader_.add_host(id_of(kHost));
    leader_.add_keeper(id_of(kKeeper));
    leader_.add_keeper(id_of(kSelf));
  }

  void learn_roster() { ASSERT_TRUE(authorities_.take_roster(charter_.id(), *leader_.take_change(), signer_)); }

  void hear(std::uint8_t from, JobMessage message) {
    message.set_job(charter_.id().bytes());
    if (message.term() == 0) message.set_term(1);
    out_ = {};
    router_.on_message(now_, id_of(from), message, out_);
    now_ += std::chrono::minutes(1);  // so that each refusal is reported
  }

  std::string refusal() const {
    for (const job::Action& action : out_.now)
      if (const auto* notify = std::get_if<job::Notify>(&action))
        if (const auto* refused = std::get_if<job::PeerRefused>(&notify->event)) return refused->sentence;
    return "";
  }

  const JobMessage* sent() const {
    for (const std::vector<job::Action>* list : {&out_.now, &out_.later})
      for (const job::Action& action : *list)
        if (const auto* send = std::get_if<job::Send>(&action); send != nullptr && send->message.has_job()) return &send->message.job();
    return nullptr;
  }

  JobMessage want_image(std::uint64_t epoch, const wire::pb::SignedGrant& grant) const {
    JobMessage message;
    message.mutable_want_image()->set_thread(1);
    message.mutable_want_image()->set_epoch(epoch);
    message.mutable_want_image()->set_keeper_generation(1);
    *message.mutable_want_image()->mutable_grant() = grant;
    return message;
  }

  wire::pb::SignedGrant grant(std::uint64_t thread, std::uint64_t epoch, std::uint8_t host, std::uint8_t keeper = kSelf) const {
    return leader_.grant(
        {.thread = job::ThreadId{thread}, .epoch = epoch, .keeper_generation = 1, .host = id_of(host), .keepers = {id_of(keeper)}});
  }

  // Another search each time.
  JobMessage search(std::uint32_t slots, std::uint64_t nonce = 1) {
    const test::Searcher searcher{home_signer_, key_of(kHome)};
    return searcher.search(charter_of(kHome, nonce), ++round_, slots);
  }

  const TestSigner signer_{kSelf}, home_signer_{kHome};
  const job::Charter charter_ = charter_of(kHome);
  job::LeaderRoster leader_{charter_.id(), key_of(kHome), home_signer_, 1};
  NobodyElse others_;
  job::Authorities authorities_{{}, id_of(kSelf)};
  job::SlotLeases slots_{{.slots = 2}, 1};
  job::BlobReferences blobs_{{}, [](const JobId&) { return std::vector<PeerId>(); }};
  job::Swarm swarm_{{}, blobs_, [](const JobId&) { return std::vector<PeerId>(); }, [](const PeerId&) { return job::kNever; }, Rng(1)};
  job::ChunkUploads chunk_uploads_{{}, blobs_, swarm_, Rng(2)};
  job::ImageTrees images_{{}, blobs_};
  job::Budget budget_{{}};
  job::Keeper keeper_{{}, {others_, images_, authorities_, budget_}};
  std::map<JobId, std::unique_ptr<job::Home>> homes_;
  std::map<JobId, std::unique_ptr<job::HostedJob>> hosted_jobs_;
  std::uint64_t next_worker_ = 0;
  bool disk_full_ = false;
  bool disk_behind_ = false;
  bool lends_ = true;
  std::vector<job::Capacity> capacities_;  // that lenders said they have
  std::uint64_t round_ = test::Searcher::kFirstRound;
  Rng rng_{1};
  Grids grids_{{.grids = {"one"}}, {id_of(kSelf), key_of(kSelf), 1}, signer_, rng_};
  SearchRelay searches_{{}, {id_of(kSelf), signer_, grids_}};
  JobRouter router_{
      {},
      {authorities_, slots_, blobs_, swarm_, chunk_uploads_, keeper_, homes_, hosted_jobs_},
      {.self = id_of(kSelf),
       .signer = signer_,
       .grids = others_,
       .disk_is_behind = [this] { return disk_behind_; },
       .disk_is_full = [this] { return disk_full_; },
       .searches = searches_,
       .terms = [this](Time, const job::Charter& charter,
                       const JobMessage::Query& query) -> std::variant<job::SlotLeases::Wanted, Refusal> {
         if (!lends_) return Refusal{JobMessage::Decline::RULES, "it does not lend"};
         return job::SlotLeases::Wanted{.home = charter.first_home(),
                                        .job = charter.id(),
                                        .slots = query.slots(),
                                        .consumer = charter.submitter(),
                                        .held = query.held()};
       },
       .on_no_slot = [](Time, const job::SlotLeases::Wanted&, Actions&) { return Refusal{JobMessage::Decline::BUSY, "all are taken"}; },
       .introduction = [](const job::Charter&) { return wire::pb::Descriptor(); },
       .capacity =
           [] {
             job::Capacity capacity;
             capacity.set_speed(700);
             return capacity;
           },
       .on_capacity = [this](Time, const PeerId&, const job::Capacity& capacity) { capacities_.push_back(capacity); },
       .memory_for = [](std::uint32_t slots) { return slots * 1000; },
       .make_hosted_job =
           [this](const job::HostedJob::Claim& claim) {
             return std::make_unique<job::HostedJob>(
                 job::HostedJob::Config{}, job::HostedJob::Environment{id_of(kSelf), blobs_, swarm_, images_, next_worker_, budget_},
                 claim);
           }}};
  Time now_{std::chrono::hours(1)};
  Actions out_;
};

JobMessage of_kind(int kind) {
  JobMessage message;
  const std::string empty{static_cast<char>(((kind << 3 | 2) & 0x7f) | 0x80), static_cast<char>(kind >> 4), '\0'};
  GW_ASSERT(message.MergeFromString(empty));
  return message;
}

TEST_F(Router, ALenderSaysWhyItGivesNoSlots) {
  lends_ = false;
  hear(kHome, search(1));
  ASSERT_NE(sent(), nullptr);
  EXPECT_EQ(sent()->decline().why(), JobMessage::Decline::RULES);
  EXPECT_EQ(sent()->decline().sentence(), "it does not lend");
  EXPECT_EQ(sent()->decline().capacity().speed(), 700u);
  EXPECT_EQ(sent()->decline().round(), round_);
  EXPECT_EQ(slots_.free_slots(), 2u);
  lends_ = true;
  ASSERT_NE(slots_.reserve(now_, {id_of(kHost), {sha256(as_bytes("another"))}, 2, charter_.submitter()}), nullptr);
  hear(kHome, search(1));
  EXPECT_EQ(sent()->decline().why(), JobMessage::Decline::BUSY);
}

TEST_F(Router, AnOfferSaysWhatTheLenderHas) {
  hear(kHome, search(1));
  ASSERT_NE(sent(), nullptr);
  EXPECT_EQ(sent()->offer().capacity().speed(), 700u);
  EXPECT_EQ(sent()->offer().round(), round_);
}

TEST_F(Router, AClaimTakesNoMoreThanHomeSays) {
  hear(kHome, search(2));
  ASSERT_NE(sent(), nullptr);
  JobMessage claim;
  claim.mutable_claim()->set_claim(sent()->offer().claim());
  claim.mutable_claim()->set_slots(1);
  hear(kHome, claim);
  EXPECT_EQ(slots_.free_slots(), 1u);
  EXPECT_EQ(hosted_jobs_.at(charter_.id())->claim().slots, 1u);
}

// A home took slots for a job of a private grid from peers outside that grid, and told them of the job.
TEST_F(Router, AnOfferOfAPeerThatMayNotRunTheJobIsRefused) {
  const job::Charter own = charter_of(kSelf);
  wire::pb::Manifest content;
  content.mutable_module()->set_hash(std::string(32, 'm'));
  content.mutable_module()->set_size(1);
  content.mutable_module()->add_chunks(std::string(32, 'm'));
  content.mutable_config()->set_random_seed(std::string(32, 's'));
  content.mutable_policy()->set_slots(4);
  const PublicKey key = key_of(kSelf);
  Rng rng{1};
  job::PeerHistory history{{}};
  const job::Home::Environment environment{id_of(kSelf), 1, Time(0), others_, key, signer_, rng, history};
  homes_[own.id()] =
      std::make_unique<job::Home>(job::Home::Config{}, environment, own, job::Manifest::check(job::Manifest::encode(content)).value());
  JobMessage offer;
  offer.set_job(own.id().bytes());
  offer.mutable_offer()->set_claim(7);
  offer.mutable_offer()->set_slots(2);
  offer.mutable_offer()->set_round((1ull << 32) + 1);  // of the first boot
  others_.outside = id_of(kStranger);
  router_.on_message(now_, id_of(kStranger), offer, out_);
  EXPECT_NE(refusal(), "");
  EXPECT_EQ(sent(), nullptr);
  out_ = {};
  router_.on_message(now_, id_of(kHost), offer, out_);
  ASSERT_NE(sent(), nullptr);
  EXPECT_TRUE(sent()->has_release()) << "it was not asked";
  others_.lenders = {{id_of(kHost), 2}};
  homes_.at(own.id())->on_tick(now_, out_);
  out_ = {};
  router_.on_message(now_, id_of(kHost), offer, out_);
  ASSERT_NE(sent(), nullptr);
  EXPECT_TRUE(sent()->has_claim());
}

// A member that asks without end was answered each time, with a roster that is a thousand times longer than the question.
TEST_F(Router, AnswersNoMoreQuestionsForTheRosterThanAPeerNeeds) {
  learn_roster();
  JobMessage question = of_kind(JobMessage::kWantRoster);
  question.set_job(charter_.id().bytes());
  question.set_term(1);
  const auto answered = [&] {
    out_ = {};
    router_.on_message(now_, id_of(kHost), question, out_);
    return sent() != nullptr;
  };
  const JobRouter::Config config;
  std::size_t answers = 0;
  for (std::size_t i = 0; i < 100; ++i) answers += answered() ? 1 : 0;
  EXPECT_EQ(answers, 2 * config.questions_per_peer);
  now_ += config.ask_every;
  EXPECT_TRUE(answered());
}

// Such answers wait in memory until the disk has written what was given to it before.
TEST_F(Router, DoesNotAnswerWhileTheDiskIsBehind) {
  learn_roster();
  disk_behind_ = true;
  hear(kHost, want_image(1, grant(1, 1, kHost)));
  EXPECT_EQ(sent(), nullptr);
  EXPECT_EQ(keeper_.size(), 0u);
  JobMessage ask = of_kind(JobMessage::kAskKept);
  ask.set_job(std::string(32, 'u'));
  router_.on_message(now_, id_of(kStranger), ask, out_);
  EXPECT_EQ(sent(), nullptr);
  disk_behind_ = false;
  router_.on_message(now_, id_of(kStranger), ask, out_);
  ASSERT_NE(sent(), nullptr);
  EXPECT_TRUE(sent()->has_forget());
  hear(kHost, want_image(1, grant(1, 1, kHost)));
  ASSERT_NE(sent(), nullptr);
  EXPECT_TRUE(sent()->has_image_is());
}

TEST_F(Router, AStrangerHasNoRightToAnything) {
  learn_roster();
  for (int kind = JobMessage::kClaim; kind <= JobMessage::kSuspended; ++kind) {
    if (kind == JobMessage::kRoster) continue;  // judged by what it brings
    const std::uint64_t before = router_.refused();
    hear(kStranger, of_kind(kind));
    EXPECT_EQ(router_.refused(), before + 1) << kind;
    EXPECT_NE(refusal(), "") << kind;
    EXPECT_EQ(sent(), nullptr) << kind;
  }
  EXPECT_EQ(keeper_.size(), 0u);
  EXPECT_TRUE(hosted_jobs_.empty());
}

TEST_F(Router, AMemberOfTheJobHasOnlyItsOwnRights) {
  learn_roster();
  for (const std::uint8_t member : {kHost, kKeeper})
    for (const int kind : {JobMessage::kClaim, JobMessage::kRelease, JobMessage::kAssign, JobMessage::kDrop, JobMessage::kStored,
                           JobMessage::kKeeperChange, JobMessage::kForget}) {
      hear(member, of_kind(kind));
      EXPECT_EQ(refusal(), "it gave orders for a job whose home it is not") << kind;
    }
  for (const int kind : {JobMessage::kStatus, JobMessage::kEffects, JobMessage::kNoClaim, JobMessage::kThreadFailed, JobMessage::kHave,
                         JobMessage::kWounded, JobMessage::kClaimState}) {
    hear(kKeeper, of_kind(kind));
    EXPECT_EQ(refusal(), "it speaks for threads of a job of which it is no host") << kind;
  }
  for (const int kind : {JobMessage::kKept, JobMessage::kImageIs, JobMessage::kAskKept}) {
    hear(kHost, of_kind(kind));
    EXPECT_EQ(refusal(), "it speaks of images of a job of which it is no keeper") << kind;
  }
}

TEST_F(Router, CodeAndInputsAreSentOnlyForAJobThatNeedsThem) {
  learn_roster();
  const Hash256 hash = sha256(as_bytes("an input of another job"));
  const JobId other{sha256(as_bytes("another job"))};
  blobs_.put({hash, "an input of another job"}, other, out_);
  blobs_.on_stored(hash);
  blobs_.set_cached(hash);
  JobMessage want;
  want.mutable_want_blob()->set_hash(wire::bytes_of(hash));
  hear(kHost, want);
  ASSERT_NE(sent(), nullptr);
  EXPECT_TRUE(sent()->blob().missing());
  blobs_.release(hash, other, out_);
  ASSERT_TRUE(blobs_.cache().contains(hash));
  hear(kHost, want);
  ASSERT_NE(sent(), nullptr);
  EXPECT_TRUE(sent()->blob().missing()) << "it is in the cache, and no job needs it";
  blobs_.adopt(hash, charter_.id());
  hear(kHost, want);
  EXPECT_EQ(sent(), nullptr) << "it is read from the disk first";
}

TEST_F(Router, RefusalsAreReportedAtALimitedRate) {
  learn_roster();
  Actions out;
  JobMessage message = of_kind(JobMessage::kDrop);
  message.set_job(charter_.id().bytes());
  message.set_term(1);
  for (int i = 0; i < 100; ++i) router_.on_message(now_, id_of(kStranger), message, out);
  EXPECT_EQ(out.now.size(), 1u);
  EXPECT_EQ(router_.refused(), 100u);
}

TEST_F(Router, AnotherTermIsRefused) {
  learn_roster();
  JobMessage message = of_kind(JobMessage::kDrop);
  message.set_term(2);
  hear(kHome, message);
  EXPECT_NE(refusal().find("term 2"), std::string::npos);
}

TEST_F(Router, AMemberOfAnotherGridIsRefused) {
  learn_roster();
  others_.outside = id_of(kHost);
  hear(kHost, of_kind(JobMessage::kWantBlob));
  EXPECT_NE(refusal().find("private grid"), std::string::npos);
}

// A home that had just been restarted told the keepers of its private grid to forget everything.
TEST_F(Router, WhoHasNotShownItsMembershipYetIsNotToldToStop) {
  const job::Charter own = charter_of(kSelf);
  authorities_.add(own);
  JobMessage asks;
  asks.mutable_ask_kept()->add_threads()->set_thread(1);
  asks.set_job(own.id().bytes());
  asks.set_term(1);
  others_.outside = id_of(kKeeper);
  router_.on_message(now_, id_of(kKeeper), asks, out_);
  EXPECT_EQ(sent(), nullptr);
  EXPECT_NE(refusal().find("private grid"), std::string::npos);
  others_.outside = {};
  router_.on_message(now_, id_of(kKeeper), asks, out_);
  ASSERT_NE(sent(), nullptr);
  EXPECT_TRUE(sent()->has_forget()) << "it is no keeper of the job";
}

TEST_F(Router, ANewerRosterIsAskedForBeforeAnybodyIsRefused) {
  JobMessage message = of_kind(JobMessage::kWantRoster);
  message.set_roster_version(7);
  hear(kHost, message);
  EXPECT_EQ(refusal(), "");
  ASSERT_NE(sent(), nullptr);
  EXPECT_TRUE(sent()->has_want_roster());
  JobMessage roster;
  *roster.mutable_roster()->mutable_charter() = charter_.signed_charter();
  *roster.mutable_roster()->mutable_roster() = *leader_.take_change();
  hear(kHost, roster);
  EXPECT_TRUE(authorities_.find(charter_.id())->may_host(id_of(kHost)));
  hear(kHost, of_kind(JobMessage::kWantRoster));
  ASSERT_NE(sent(), nullptr);
  EXPECT_TRUE(sent()->roster().has_roster());
}

TEST_F(Router, ARosterGoesBeforeTheFirstMessageToAMember) {
  learn_roster();
  JobMessage message = of_kind(JobMessage::kKept);
  message.set_job(charter_.id().bytes());
  EXPECT_TRUE(router_.prepare(id_of(kHost), message).has_value());
  EXPECT_GT(message.roster_version(), 0u);
  EXPECT_FALSE(router_.prepare(id_of(kHost), message).has_value()) << "it was told";
  EXPECT_FALSE(router_.prepare(id_of(kHome), message).has_value()) << "it made the roster";
  EXPECT_FALSE(router_.prepare(id_of(kStranger), message).has_value());
  leader_.add_host(id_of(kStranger));
  learn_roster();
  EXPECT_TRUE(router_.prepare(id_of(kHost), message).has_value()) << "a newer one";
  router_.on_peer_restarted(id_of(kHost));
  EXPECT_TRUE(router_.prepare(id_of(kHost), message).has_value());
}

TEST_F(Router, SlotsAreReservedForTheHomeThatTheCharterNames) {
  const TestSigner stranger(kStranger);
  const test::Searcher searcher{stranger, key_of(kStranger)};
  hear(kStranger, searcher.search(charter_, test::Searcher::kFirstRound, 1));
  EXPECT_EQ(sent(), nullptr) << "it searches for a job whose home it is not";
  EXPECT_EQ(slots_.free_slots(), 2u);
  disk_full_ = true;
  hear(kHome, search(1));
  EXPECT_EQ(slots_.free_slots(), 2u) << "a peer whose disk is full takes no work";
  ASSERT_NE(sent(), nullptr);
  EXPECT_EQ(sent()->decline().sentence(), "its disk is full");
  disk_full_ = false;
  hear(kHome, search(1));
  ASSERT_NE(sent(), nullptr);
  EXPECT_EQ(sent()->offer().slots(), 1u);
  EXPECT_EQ(sent()->offer().memory_bytes(), 1000u);
}

// A former member of a private grid could send the old searches of its members again.
TEST_F(Router, ASearchIsTakenFromMembersOfItsGridOnly) {
  others_.outside = id_of(kStranger);
  hear(kStranger, search(1));
  EXPECT_EQ(sent(), nullptr);
  EXPECT_EQ(slots_.free_slots(), 2u);
}

// A relay was reported to its neighbours' users because the grid had many jobs.
TEST_F(Router, ARelayIsNotBlamedForTheNumberOfJobs) {
  for (std::uint64_t nonce = 1; nonce <= 100; ++nonce) {
    JobMessage message = search(1, nonce);
    message.set_job(charter_of(kHome, nonce).id().bytes());
    message.set_term(1);
    out_ = {};
    router_.on_message(now_, id_of(kHost), message, out_);
    EXPECT_EQ(refusal(), "") << nonce;
  }
  EXPECT_EQ(authorities_.size(), 1 + JobRouter::Config().charters_per_second);
}

TEST_F(Router, ASearchThatCameOnAnotherWayIsAnsweredToItsHome) {
  hear(kHost, search(1));
  const auto* send = std::get_if<job::Send>(&out_.now.back());
  ASSERT_NE(send, nullptr);
  EXPECT_EQ(send->to, id_of(kHome));
  EXPECT_TRUE(send->message.job().has_offer());
}

// Nothing is fetched for slots that may go to another job.
TEST_F(Router, HeldSlotsRunNothingUntilTheirHomeKeepsThem) {
  JobMessage::Query query;
  query.set_held(true);
  hear(kHome, test::Searcher{home_signer_, key_of(kHome)}.search(charter_, ++round_, 2, query));
  ASSERT_NE(sent(), nullptr);
  JobMessage claim;
  claim.mutable_claim()->set_claim(sent()->offer().claim());
  const auto claims_as = [&](bool held, std::uint64_t round) {
    claim.mutable_claim()->set_held(held);
    claim.mutable_claim()->set_round(round);
    hear(kHome, claim);
    return std::ranges::any_of(out_.now, [&](const job::Action& action) {
      const auto* send = std::get_if<job::Send>(&action);
      if (send == nullptr || !send->message.job().has_claim_state()) return false;
      return send->message.job().claim_state().held() == held && send->message.job().claim_state().round() == round;
    });
  };
  EXPECT_TRUE(claims_as(true, 1));
  EXPECT_TRUE(hosted_jobs_.empty());
  EXPECT_TRUE(claims_as(false, 2));
  EXPECT_EQ(hosted_jobs_.size(), 1u);
  EXPECT_TRUE(claims_as(true, 3));
  EXPECT_TRUE(hosted_jobs_.empty());
}

TEST_F(Router, ACharterMustBeTheJobs) {
  JobMessage message = search(1);
  *message.mutable_search()->mutable_charter() = charter_of(kHome, 2).signed_charter();
  const JobId other{sha256(as_bytes("other"))};
  JobMessage::Query query;
  ASSERT_TRUE(query.ParseFromString(message.search().query()));
  query.set_job(other.bytes());
  message.mutable_search()->set_query(query.SerializeAsString());
  message.set_job(other.bytes());
  message.set_term(1);
  router_.on_message(now_, id_of(kHome), message, out_);
  EXPECT_EQ(refusal(), "it showed the charter of another job");
}

// Defect 10: an epoch out of the air froze every thread of a job whose id was known.
TEST_F(Router, AnImageIsGivenOnlyToWhomTheLeaderHasGrantedIt) {
  learn_roster();
  hear(kHost, want_image(1, grant(1, 1, kHost)));
  ASSERT_NE(sent(), nullptr);
  EXPECT_TRUE(sent()->has_image_is());
  hear(kHost, want_image(1000, grant(1, 1, kHost)));
  EXPECT_NE(refusal().find("with a grant of epoch 1"), std::string::npos);
  hear(kHost, want_image(1, grant(2, 1, kHost)));
  EXPECT_TRUE(sent() != nullptr && sent()->has_image_is()) << "it is the bearer already";
  hear(kHost, want_image(2, grant(2, 2, kHost)));
  EXPECT_NE(refusal().find("with the grant of another one"), std::string::npos);
  hear(kKeeper, want_image(2, grant(1, 2, kHost)));
  EXPECT_NE(refusal().find("not its own"), std::string::npos);
  hear(kHost, want_image(2, grant(1, 2, kHost, kKeeper)));
  EXPECT_NE(refusal().find("for another keeper"), std::string::npos);
  EXPECT_EQ(keeper_.bearer({charter_.id(), job::ThreadId{1}})->epoch, 1u);
}

// A host of the job that has no grant of a thread can neither write its images nor those of its children.
TEST_F(Router, AChildIsKeptByTheGrantOfItsParentAlone) {
  learn_roster();
  constexpr std::uint64_t kSpawn = 7;
  const job::ThreadId child = job::child_of(job::ThreadId{1}, kSpawn);
  JobMessage message;
  JobMessage::KeepImage& keep = *message.mutable_keep_image();
  keep.set_thread(1);
  keep.set_epoch(1);
  keep.set_keeper_generation(1);
  keep.set_image_root(std::string(32, 'p'));
  keep.set_spawn(kSpawn);
  *keep.mutable_grant() = grant(2, 1, kHost);
  hear(kHost, message);
  EXPECT_NE(refusal().find("with the grant of another one"), std::string::npos);
  keep.set_thread(child.value());
  keep.set_spawn(0);
  *keep.mutable_grant() = grant(1, 1, kHost);
  hear(kHost, message);
  EXPECT_NE(refusal().find("with the grant of another one"), std::string::npos) << "nor in the name of the child itself";
  EXPECT_EQ(keeper_.size(), 0u);
  keep.set_thread(1);
  keep.set_spawn(kSpawn);
  hear(kHost, message);
  EXPECT_EQ(keeper_.size(), 2u);
  EXPECT_FALSE(keeper_.bearer({charter_.id(), child}));
}

TEST_F(Router, WhoWorksForAJobThatIsOverIsTold) {
  JobMessage status;
  status.mutable_status()->set_claim(5);
  status.set_job(std::string(32, 'x'));
  status.set_term(1);
  router_.on_message(now_, id_of(kHost), status, out_);
  ASSERT_NE(sent(), nullptr);
  const bool released = std::ranges::any_of(out_.later, [](const job::Action& action) {
    const auto* send = std::get_if<job::Send>(&action);
    return send != nullptr && send->message.job().release().claim() == 5;
  });
  EXPECT_TRUE(released);
}

}  // namespace
}  // namespace gw::peer
