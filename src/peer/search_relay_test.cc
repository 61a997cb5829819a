#include "peer/search_relay.h"

#include <gtest/gtest.h>

#include "job/test/signers.h"
#include "peer/test/searches.h"

namespace gw::peer {
namespace search_relay_test {

using job::test::charter_of;
using job::test::id_of;
using job::test::key_of;
using job::test::TestSigner;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint8_t kSelf = 1, kHome = 2, kNear = 3, kFar = 4, kSender = 5;

overlay::Coordinate at(float seconds_away) {
  overlay::Coordinate coordinate;
  coordinate.position[0] = seconds_away;
  coordinate.error = 0.1F;
  return coordinate;
}

class Relay : public testing::Test {
 protected:
  Relay() {
    introduce(kNear, 0.010F);
    introduce(kFar, 0.400F);
    introduce(kSender, 0.001F);
  }

  // The overlay learns of a peer.
  void introduce(std::uint8_t number, float seconds_away) {
    const TestSigner signer(number);
    const test::Searcher peer{signer, key_of(number), wire::open_grid("one"), at(seconds_away)};
    grids_.on_rumoured(now_, wire::open_grid("one"), peer.descriptor(), out_);
    out_ = {};
  }

  JobMessage search(std::uint64_t round, Time radius = job::kWholeGrid, std::uint32_t hops = 4) {
    SearchRelay::Query query;
    query.set_radius_ns(static_cast<std::uint64_t>(radius.count()));
    for (const PeerId& peer : asked_) query.add_asked(job::asked_name(peer));
    JobMessage message = home_.search(charter_, test::Searcher::kFirstRound + round, 1, query, hops);
    message.set_job(charter_.id().bytes());
    return message;
  }

  enum class Fate : std::uint8_t { ignored, forged, handled, answered };
  Fate hear(const JobMessage& message, std::uint8_t from = kSender) {
    out_ = {};
    const auto query = relay_.look(now_, id_of(from), message);
    if (!query) return Fate::ignored;
    if (!relay_.is_genuine(now_, charter_, message.search(), out_)) return Fate::forged;
    return relay_.handle(now_, id_of(from), charter_, *query, message, out_) ? Fate::answered : Fate::handled;
  }

  // To whom the last search was passed on.
  std::set<PeerId> receivers() const {
    std::set<PeerId> all;
    for (const job::Action& action : out_.now)
      if (const auto* send = std::get_if<job::Send>(&action); send != nullptr && send->message.job().has_search()) all.insert(send->to);
    return all;
  }

  const TestSigner signer_{kSelf}, home_signer_{kHome};
  const job::Charter charter_ = charter_of(kHome);
  test::Searcher home_{home_signer_, key_of(kHome)};
  std::vector<PeerId> asked_;
  Rng rng_{1};
  Time now_{std::chrono::hours(1)};
  Actions out_;
  Grids grids_{{.grids = {"one"}}, {id_of(kSelf), key_of(kSelf), 1}, signer_, rng_};
  SearchRelay relay_{{}, {id_of(kSelf), signer_, grids_}};
};

TEST_F(Relay, PassesASearchOnOnceAndAnswersIt) {
  EXPECT_EQ(hear(search(1)), Fate::answered);
  EXPECT_EQ(receivers(), (std::set{id_of(kNear), id_of(kFar)})) << "not back, and not to its home";
  EXPECT_EQ(hear(search(1), kNear), Fate::ignored);
  EXPECT_EQ(hear(search(2)), Fate::answered);
}

TEST_F(Relay, LeavesPeersBeyondTheRadiusAlone) {
  EXPECT_EQ(hear(search(1, std::chrono::milliseconds(50))), Fate::answered);
  EXPECT_EQ(receivers(), (std::set{id_of(kNear)}));
}

TEST_F(Relay, IsNotMisusedFromBeyondTheRadius) {
  home_.coordinate = at(0.3F);
  EXPECT_EQ(hear(search(1, std::chrono::milliseconds(20))), Fate::handled);
  EXPECT_TRUE(receivers().empty());
  EXPECT_EQ(hear(search(2, std::chrono::milliseconds(20)), kHome), Fate::answered) << "home knows better how far away this peer is";
}

TEST_F(Relay, APeerThatHomeAsksItselfGetsNoCopy) {
  asked_ = {id_of(kNear)};
  hear(search(1));
  EXPECT_EQ(receivers(), (std::set{id_of(kFar)}));
}

TEST_F(Relay, EachHopIsCounted) {
  hear(search(1, job::kWholeGrid, 1));
  ASSERT_FALSE(out_.now.empty());
  for (const job::Action& action : out_.now)
    if (const auto* send = std::get_if<job::Send>(&action); send != nullptr && send->message.has_job())
      EXPECT_EQ(send->message.job().search().hops(), 0u);
  EXPECT_EQ(hear(search(2, job::kWholeGrid, 0)), Fate::answered);
  EXPECT_TRUE(receivers().empty());
}

TEST_F(Relay, ASearchThatItsHomeHasNotSignedIsDroppedAndDoesNotHideTheRealOne) {
  JobMessage forged = search(7);
  SearchRelay::Query query;
  ASSERT_TRUE(query.ParseFromString(forged.search().query()));
  query.set_slots(60'000);
  forged.mutable_search()->set_query(query.SerializeAsString());
  EXPECT_EQ(hear(forged), Fate::forged);
  JobMessage misleading = search(7);
  misleading.mutable_search()->mutable_home()->set_address("victim:1");
  EXPECT_EQ(hear(misleading), Fate::forged) << "its answers would go to another peer";
  EXPECT_EQ(relay_.size(), 0u);
  EXPECT_EQ(hear(search(7)), Fate::answered);
}

TEST_F(Relay, ASearchOfAnEarlierBootOfItsHomeIsNotSentAgain) {
  const JobMessage kept = search(1);
  overlay::Descriptor restarted{.key = key_of(kHome), .incarnation = {2, 1}};
  overlay::sign(wire::open_grid("one"), home_signer_, restarted);
  wire::pb::Descriptor descriptor;
  overlay::write(restarted, descriptor);
  ASSERT_TRUE(grids_.introduce(now_, wire::open_grid("one"), descriptor, out_));
  EXPECT_EQ(hear(kept), Fate::handled);
  EXPECT_TRUE(receivers().empty());
  EXPECT_EQ(hear(search(test::Searcher::kFirstRound + 1)), Fate::answered);
}

TEST_F(Relay, AHomeIsAnsweredAndPassedOnAtALimitedRate) {
  std::size_t answered = 0, passed_on = 0;
  for (std::uint64_t round = 1; round <= 200; ++round) {
    answered += hear(search(round), static_cast<std::uint8_t>(round % 2 == 0 ? kSender : kNear)) == Fate::answered ? 1 : 0;
    passed_on += receivers().empty() ? 0 : 1;
  }
  EXPECT_EQ(answered, SearchRelay::Config().homes.per_peer);
  EXPECT_EQ(passed_on, SearchRelay::Config().passed_on.per_peer);
  now_ += minutes(1);
  EXPECT_EQ(hear(search(1000)), Fate::answered);
}

TEST_F(Relay, OneSenderCannotMakeThisPeerCheckSignaturesWithoutEnd) {
  std::size_t looked_at = 0;
  JobMessage forged = search(1);
  forged.mutable_search()->set_signature(std::string(64, 'x'));
  for (std::uint64_t i = 1; i <= 500; ++i) looked_at += hear(forged) == Fate::forged ? 1 : 0;
  EXPECT_EQ(looked_at, SearchRelay::Config().senders.per_peer);
}

TEST_F(Relay, RemembersABoundedNumberOfSearches) {
  SearchRelay::Config config{.seen = 8};
  SearchRelay relay(config, {id_of(kSelf), signer_, grids_});
  for (std::uint64_t round = 1; round <= 40; ++round) {
    const JobMessage message = search(round);
    const auto query = relay.look(now_, id_of(kHome), message);
    ASSERT_TRUE(query) << round;
    ASSERT_TRUE(relay.is_genuine(now_, charter_, message.search(), out_));
    relay.handle(now_, id_of(kHome), charter_, *query, message, out_);
    EXPECT_LE(relay.size(), 8u);
  }
}

TEST_F(Relay, AQueryOutOfRangeIsItsSendersFault) {
  for (const auto& spoil : std::vector<std::function<void(SearchRelay::Query&)>>{
           [](SearchRelay::Query& query) { query.set_slots(0); }, [](SearchRelay::Query& query) { query.set_round(0); },
           [](SearchRelay::Query& query) { query.set_radius_ns(~0ull); }, [](SearchRelay::Query& query) { query.set_priority(1000); },
           [](SearchRelay::Query& query) { query.mutable_needs()->add_tags("a b"); },
           [](SearchRelay::Query& query) {
             for (int i = 0; i <= wire::kMaxAsked; ++i) query.add_asked(1);
           },
           [](SearchRelay::Query& query) { query.set_job("another"); }}) {
    JobMessage message = search(1);
    SearchRelay::Query query;
    ASSERT_TRUE(query.ParseFromString(message.search().query()));
    spoil(query);
    message.mutable_search()->set_query(query.SerializeAsString());
    EXPECT_EQ(relay_.look(now_, id_of(kSender), message).error().kind, Kind::invalid);
  }
}

}  // namespace search_relay_test
}  // namespace gw::peer
