#include "job/swarm/swarm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>

#include "job/test/fake_disk.h"
#include "job/test/signers.h"

namespace gw::job {
namespace swarm_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::id_of;

constexpr std::uint8_t kHome = 1;

class InASwarm : public testing::Test {
 protected:
  InASwarm() { swarm_.open(job_, id_of(kHome)); }

  static Hash256 hash(int chunk) { return sha256(as_bytes("chunk " + std::to_string(chunk))); }
  void want(int chunk, std::uint32_t bytes = 1u << 20) {
    ASSERT_TRUE(blobs_.expect(hash(chunk), job_));
    swarm_.want(now_, {.hash = hash(chunk), .bytes = bytes, .priority = Swarm::Priority::input}, job_, out_);
  }
  void have(std::uint8_t peer, const std::vector<int>& chunks, bool greeting = false) {
    JobMessage::Have have;
    for (const int chunk : chunks) have.add_chunks(chunk_name(hash(chunk)));
    have.set_greeting(greeting);
    swarm_.on_have(now_, id_of(peer), job_, have, out_);
  }
  JobMessage::Blob blob(int chunk, const std::string& bytes) const {
    JobMessage::Blob message;
    message.set_hash(wire::bytes_of(hash(chunk)));
    message.set_bytes(bytes);
    return message;
  }
  // The answer of the peer: as the router gives it to blobs and swarm, and the disk stores it.
  void answer(std::uint8_t peer, const JobMessage::Blob& message) {
    const bool good = blobs_.on_blob(now_, id_of(peer), message, out_).has_value();
    swarm_.on_answer(now_, id_of(peer), job_, message, good, out_);
    const Hash256 hash = wire::hash_of(message.hash());
    if (blobs_.is_asked(hash)) return;
    blobs_.on_stored(hash);
    swarm_.add_here(now_, hash, job_);
  }
  void deliver(std::uint8_t peer, int chunk) { answer(peer, blob(chunk, "chunk " + std::to_string(chunk))); }
  void lacks(std::uint8_t peer, int chunk, const std::vector<std::uint8_t>& holders = {}) {
    JobMessage::Blob message;
    message.set_hash(wire::bytes_of(hash(chunk)));
    message.set_missing(true);
    for (const std::uint8_t holder : holders) message.add_holders(id_of(holder).bytes());
    answer(peer, message);
  }
  struct Asked {
    std::uint8_t peer;
    int chunk;
    bool from_any;
    bool operator==(const Asked&) const = default;
  };
  // The requests since the last call.
  std::vector<Asked> asked() {
    std::vector<Asked> list;
    for (const auto& [to, message] : sent()) {
      if (!message.has_want_blob()) continue;
      int chunk = 0;
      while (wire::bytes_of(hash(chunk)) != message.want_blob().hash()) ++chunk;
      list.push_back({number(to), chunk, message.want_blob().from_any()});
    }
    return list;
  }
  std::vector<std::pair<PeerId, JobMessage>> sent() {
    std::vector<std::pair<PeerId, JobMessage>> list;
    for (Action& action : std::exchange(out_.now, {}))
      if (auto* send = std::get_if<Send>(&action)) list.emplace_back(send->to, std::move(*send->message.mutable_job()));
    return list;
  }
  static std::uint8_t number(const PeerId& peer) {
    std::uint8_t number = 0;
    while (id_of(number) != peer) ++number;
    return number;
  }
  void tick(Time time) {
    now_ += time;
    swarm_.on_tick(now_, out_);
  }

  const JobId job_{sha256(as_bytes("a job"))};
  std::vector<PeerId> members_ = {id_of(kHome), id_of(2), id_of(3), id_of(4), id_of(6)};
  std::map<PeerId, Time> distances_;
  BlobReferences blobs_{{}, test::nobody_else};
  Swarm swarm_{{},
               blobs_,
               [this](const JobId&) { return members_; },
               [this](const PeerId& peer) { return distances_.contains(peer) ? distances_.at(peer) : kNever; },
               Rng(1)};
  Actions out_;
  Time now_ = seconds(100);
};

TEST_F(InASwarm, HomeIsAskedForChunksThatNoPartnerHas) {
  have(2, {7});
  asked();
  want(3);
  EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, 3, true}}));
  want(7);
  EXPECT_EQ(asked(), (std::vector<Asked>{{2, 7, false}}));
}

TEST_F(InASwarm, TheRarestChunkIsAskedForFirst) {
  // The window of each partner is full, so that all chunks wait.
  for (int chunk = 100; chunk < 108; ++chunk) {
    have(2, {chunk});
    have(3, {chunk});
    want(chunk);
  }
  std::vector<int> of_second;
  for (const Asked& request : asked())
    if (request.peer == 2) of_second.push_back(request.chunk);
  ASSERT_EQ(of_second.size(), 4u);
  have(2, {1, 2, 3});
  have(3, {1, 3});
  have(4, {1});
  for (const int chunk : {1, 2, 3}) want(chunk);
  EXPECT_EQ(asked(), (std::vector<Asked>{{4, 1, false}})) << "the only one with room";
  deliver(2, of_second[0]);
  const std::vector<Asked> next = asked();
  ASSERT_GE(next.size(), 1u);
  EXPECT_EQ(next.front(), (Asked{2, 2, false})) << "one holder, against two";
}

TEST_F(InASwarm, TheNearestHolderIsAsked) {
  distances_ = {{id_of(2), milliseconds(80)}, {id_of(3), milliseconds(1)}};
  have(2, {5});
  have(3, {5});
  want(5);
  EXPECT_EQ(asked(), (std::vector<Asked>{{3, 5, false}}));
}

TEST_F(InASwarm, APeerIsAskedForNoMoreThanItsWindow) {
  for (int chunk = 0; chunk < 10; ++chunk) want(chunk);
  EXPECT_EQ(asked().size(), 2u) << "2 MiB of home";
  for (int chunk = 10; chunk < 100; ++chunk) {
    have(2, {chunk});
    want(chunk, 1000);
  }
  EXPECT_EQ(asked().size(), Swarm::Config{}.window_chunks);
}

TEST_F(InASwarm, APartnerThatSendsWrongBytesIsLeft) {
  have(2, {5, 6});
  want(5);
  asked();
  answer(2, blob(5, "forged"));
  EXPECT_FALSE(blobs_.has(hash(5)));
  EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, 5, true}}));
  want(6);
  EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, 6, true}}));
}

TEST_F(InASwarm, APartnerThatSendsNothingIsLeft) {
  have(2, {5, 6});
  want(5);
  asked();
  tick(seconds(3));
  EXPECT_TRUE(asked().empty());
  tick(seconds(1));
  EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, 5, false}})) << "home has to send it: the swarm has failed";
  deliver(kHome, 5);
  tick(seconds(10));
  want(6);
  EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, 6, true}}));
}

TEST_F(InASwarm, APartnerThatAnnouncesWhatItLacksIsLeft) {
  have(2, {1, 2, 3, 4});
  for (const int chunk : {1, 2, 3}) {
    want(chunk);
    asked();
    lacks(2, chunk);
    EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, chunk, true}}));
    deliver(kHome, chunk);
  }
  want(4);
  EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, 4, true}}));
}

TEST_F(InASwarm, HostsThatHomeNamesAreAskedIfTheyAreMembers) {
  want(4);
  asked();
  lacks(kHome, 4, {9});
  EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, 4, false}})) << "a stranger is not asked";
  deliver(kHome, 4);
  want(5);
  asked();
  lacks(kHome, 5, {4});
  EXPECT_EQ(asked(), (std::vector<Asked>{{4, 5, false}}));
  tick(seconds(4));
  EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, 5, false}}));
}

TEST_F(InASwarm, AChunkThatHomeLacksIsUnserved) {
  want(5);
  lacks(kHome, 5);
  EXPECT_EQ(swarm_.take_unserved(), (std::vector{hash(5)}));
}

TEST_F(InASwarm, NothingIsAskedForTwice) {
  have(2, {5});
  want(5);
  EXPECT_EQ(asked().size(), 1u);
  have(3, {5});
  have(4, {5});
  want(5);
  EXPECT_TRUE(asked().empty()) << "it is on its way";
  ASSERT_TRUE(blobs_.on_blob(now_, id_of(2), blob(5, "chunk 5"), out_));
  swarm_.on_answer(now_, id_of(2), job_, blob(5, "chunk 5"), true, out_);
  have(6, {5});
  EXPECT_TRUE(asked().empty()) << "it waits for the disk";
}

TEST_F(InASwarm, StoredChunksAreAnnouncedToPartnersAndHome) {
  members_ = {id_of(kHome), id_of(2), id_of(3)};
  want(5);
  std::map<std::uint8_t, bool> greeted;
  for (const auto& [to, message] : sent())
    if (message.has_have()) greeted[number(to)] = message.have().greeting();
  EXPECT_EQ(greeted, (std::map<std::uint8_t, bool>{{2, true}, {3, true}}));
  have(3, {5});
  deliver(kHome, 5);
  tick(Time(0));
  std::set<std::uint8_t> told;
  for (const auto& [to, message] : sent())
    if (message.has_have()) {
      told.insert(number(to));
      ASSERT_EQ(message.have().chunks_size(), 1);
      EXPECT_EQ(message.have().chunks(0), chunk_name(hash(5)));
    }
  EXPECT_EQ(told, (std::set<std::uint8_t>{kHome, 2, 3})) << "the third too, since it may wait for an acknowledgement";
  have(9, {}, true);
  const auto answer = sent();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].second.have().chunks_size(), 1);
}

TEST_F(InASwarm, AHostThatDiesIsNotWaitedFor) {
  have(2, {5});
  have(3, {5});
  want(5);
  const std::vector<Asked> first = asked();
  ASSERT_EQ(first.size(), 1u);
  swarm_.on_peer_gone(now_, id_of(first[0].peer), out_);
  const std::vector<Asked> second = asked();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NE(second[0].peer, first[0].peer);
  EXPECT_NE(second[0].peer, kHome);
}

TEST_F(InASwarm, TheDeathOfHomeLeavesChunksOfPartnersAvailable) {
  have(2, {5});
  want(6);
  asked();
  swarm_.on_peer_gone(now_, id_of(kHome), out_);
  want(5);
  EXPECT_EQ(asked().front(), (Asked{2, 5, false}));
  have(2, {6});
  EXPECT_EQ(asked(), (std::vector<Asked>{{2, 6, false}}));
}

// Defect: a chunk that came while the disk was full was neither stored nor asked for again.
TEST_F(InASwarm, AChunkThatComesWhileTheDiskIsFullIsAskedForAgain) {
  have(2, {5});
  want(5);
  asked();
  blobs_.set_disk_full(true);
  deliver(2, 5);
  EXPECT_TRUE(asked().empty());
  blobs_.set_disk_full(false);
  EXPECT_EQ(swarm_.next_deadline(), Time(0));
  tick(Time(0));
  EXPECT_EQ(asked(), (std::vector<Asked>{{2, 5, false}}));
}

// Defect: hosts that announce everything and send nothing were asked one after the other, for twelve seconds each.
TEST_F(InASwarm, HomeIsAskedWhenTwoHostsHaveSentNothing) {
  for (const std::uint8_t peer : {2, 3, 4, 6}) have(peer, {5});
  want(5);
  EXPECT_EQ(asked().size(), 1u);
  tick(seconds(4));
  const std::vector<Asked> second = asked();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NE(second[0].peer, kHome);
  tick(seconds(4));
  EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, 5, false}}));
}

// Defect: a host that always took seconds was waited for up to half a minute, whatever the others needed.
TEST_F(InASwarm, ASlowHostIsMeasuredByTheOthers) {
  int chunk = 0;
  const auto fetch = [&](std::uint8_t peer, Time time) {
    have(peer, {++chunk});
    want(chunk);
    asked();
    now_ += time;
    deliver(peer, chunk);
  };
  fetch(3, seconds(3));
  for (int i = 0; i < 40; ++i) fetch(2, milliseconds(100));
  have(3, {++chunk});
  want(chunk);
  EXPECT_EQ(asked().size(), 1u);
  tick(seconds(5));
  EXPECT_EQ(asked(), (std::vector<Asked>{{kHome, chunk, false}}));
}

// Defect: of more chunks than are remembered of a host, those with small names never were.
TEST_F(InASwarm, AllChunksOfAHostThatHasManyMayBeKnown) {
  Swarm swarm({.announced = 8}, blobs_, [this](const JobId&) { return members_; }, [](const PeerId&) { return kNever; }, Rng(1));
  swarm.open(job_, id_of(kHome));
  std::map<std::uint64_t, int> chunks;
  for (int i = 0; i < 64; ++i) chunks[chunk_name(hash(i))] = i;
  for (const auto& [name, number] : chunks | std::views::reverse) {
    JobMessage::Have have;
    have.add_chunks(name);
    swarm.on_have(now_, id_of(2), job_, have, out_);
  }
  for (const auto& [name, number] : chunks | std::views::take(32)) {
    ASSERT_TRUE(blobs_.expect(hash(number), job_));
    swarm.want(now_, {.hash = hash(number), .bytes = 1000}, job_, out_);
  }
  EXPECT_GE(std::ranges::count(asked(), 2, &Asked::peer), 2);
}

// Defect: hosts that had left the job were known to home for ever, and new ones were not.
TEST_F(InASwarm, HomeForgetsHostsThatHaveLeft) {
  Swarm home({.accepted = 2}, blobs_, [this](const JobId&) { return members_; }, [](const PeerId&) { return kNever; }, Rng(1));
  home.open(job_, std::nullopt);
  JobMessage::Have have;
  have.add_chunks(chunk_name(hash(5)));
  for (const std::uint8_t peer : {2, 3}) home.on_have(now_, id_of(peer), job_, have, out_);
  members_ = {id_of(3), id_of(4)};
  home.on_have(now_, id_of(4), job_, have, out_);
  EXPECT_EQ(home.holders(now_, job_, hash(5), id_of(9), 4).size(), 2u);
  const std::vector<PeerId> known = home.holders(now_, job_, hash(5), id_of(3), 4);
  EXPECT_EQ(known, (std::vector{id_of(4)}));
}

// Defect: a job whose chunks were all in the cache announced more of them at once than a message may have.
TEST_F(InASwarm, ManyChunksAreAnnouncedInSeveralMessages) {
  for (int chunk = 0; chunk < wire::kMaxHave + 100; ++chunk) swarm_.add_here(now_, hash(chunk), job_);
  tick(Time(0));
  int announced = 0;
  for (const auto& [to, message] : sent()) {
    ASSERT_LE(message.have().chunks_size(), wire::kMaxHave);
    announced += message.have().chunks_size();
  }
  EXPECT_EQ(announced, wire::kMaxHave + 100);
}

TEST_F(InASwarm, AClosedJobLeavesNothing) {
  have(2, {1, 2, 3});
  for (const int chunk : {1, 2, 3, 4}) want(chunk);
  for (const int chunk : {1, 2, 3, 4}) {
    swarm_.remove(hash(chunk), job_);
    blobs_.release(hash(chunk), job_, out_);
  }
  swarm_.close(job_);
  EXPECT_EQ(swarm_.wanted() + swarm_.in_flight() + swarm_.jobs(), 0u);
  EXPECT_EQ(swarm_.next_deadline(), kNever);
  EXPECT_TRUE(swarm_.take_unserved().empty());
}

}  // namespace swarm_test
}  // namespace gw::job
