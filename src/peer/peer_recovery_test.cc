// The start of a peer from damaged records.

#include "peer/test/lonely_peer.h"

namespace gw::peer {
namespace peer_test {

TEST_F(LonelyPeer, ADamagedRecordEndsItsJobAndNoOther) {
  const JobId broken = submit(3);
  tick(milliseconds(2000));
  const JobId whole = submit(2);
  const job::RecordKey key{.kind = job::RecordKind::thread, .job = broken, .thread = job::thread_of_task(0, 3)};
  ASSERT_EQ(records_.erase(key.encode()), 1u);
  damaged_ = {key.encode()};
  start();
  EXPECT_TRUE(peer_->homes().contains(whole));
  EXPECT_FALSE(peer_->homes().contains(broken));
  ASSERT_NE(peer_->past().find(broken), nullptr);
  EXPECT_EQ(peer_->past().find(broken)->exit_code(), 1u);
  EXPECT_NE(peer_->past().find(broken)->sentence().find("damaged"), std::string::npos) << peer_->past().find(broken)->sentence();
  EXPECT_EQ(count<job::RecordsDamaged>(), 1u);
}

TEST_F(LonelyPeer, AJobWhoseOwnRecordIsDamagedIsKnownAsLost) {
  const JobId job = submit(2);
  const job::RecordKey key{.kind = job::RecordKind::job, .job = job};
  ASSERT_EQ(records_.erase(key.encode()), 1u);
  damaged_ = {key.encode()};
  start();
  ASSERT_NE(peer_->past().find(job), nullptr);
  EXPECT_FALSE(peer_->past().find(job)->sentence().empty());
}

// A peer whose grids are those on its disk.
class PeerOfStoredGrids : public LonelyPeer {
 protected:
  PeerOfStoredGrids() {
    grids_.clear();
    records_.clear();
    start();
  }

  void request(GridRequest grid_request) {
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, std::move(grid_request), out); });
  }

  GridId create_private_grid() {
    request({.number = 1, .what = CreateGrid{.name = "private", .secret = {1}}});
    return peer_->grids().find("private")->credentials.id;
  }

  void damage_record_of(const GridId& grid) {
    const std::string key = job::RecordKey{.kind = job::RecordKind::grid, .job = {grid.hash}}.encode();
    ASSERT_EQ(records_.erase(key), 1u);
    damaged_ = {key};
  }

  void expect_given_up(const JobId& job) {
    EXPECT_FALSE(peer_->homes().contains(job));
    ASSERT_NE(peer_->past().find(job), nullptr);
    EXPECT_EQ(peer_->past().find(job)->exit_code(), 1u);
    EXPECT_NE(peer_->past().find(job)->sentence().find("the record of its grid is damaged"), std::string::npos)
        << peer_->past().find(job)->sentence();
  }
};

TEST_F(PeerOfStoredGrids, AJobOfAPrivateGridDoesNotMoveToTheDefaultGridWhenTheRecordIsDamaged) {
  const GridId grid = create_private_grid();
  const JobId job = submit(1);
  ASSERT_TRUE(peer_->homes().contains(job));
  default_grid_ = "everybody";
  damage_record_of(grid);
  start();
  EXPECT_TRUE(peer_->grids().all().empty());
  expect_given_up(job);
  start();
  EXPECT_TRUE(peer_->grids().all().empty()) << "the damaged record stays, and so does its consequence";
}

TEST_F(PeerOfStoredGrids, AJobWithoutAGridDoesNotMoveToTheNextGridWhenTheRecordOfTheFirstIsDamaged) {
  const GridId grid = create_private_grid();
  request({.number = 2, .what = JoinOpenGrid{"work"}});
  const JobId job = submit(1);
  damage_record_of(grid);
  start();
  EXPECT_EQ(peer_->grids().all().size(), 1u);
  expect_given_up(job);
  submit(2);
  EXPECT_EQ(count<job::JobRefused>(), 1u) << "a new job must name its grid now";
}

TEST_F(PeerOfStoredGrids, StartsAlthoughTheGridThatAJobNamesHasADamagedRecord) {
  request({.number = 1, .what = JoinOpenGrid{"work"}});
  const JobId job = submit(1, "work");
  ASSERT_TRUE(peer_->homes().contains(job));
  damage_record_of(wire::open_grid("work"));
  start();
  expect_given_up(job);
  request({.number = 2, .what = JoinOpenGrid{"work"}});
  damaged_.clear();  // joining has replaced the record
  ASSERT_TRUE(peer_->homes().contains(submit(2)));
  start();
  EXPECT_NE(peer_->grids().main(), nullptr);
}

TEST_F(PeerOfStoredGrids, AGridWithADamagedRecordCanBeLeft) {
  request({.number = 1, .what = JoinOpenGrid{"work"}});
  const GridId grid = create_private_grid();
  damage_record_of(grid);
  start();
  EXPECT_EQ(peer_->grids().main(), nullptr);
  request({.number = 2, .what = LeaveGrid{grid}});
  EXPECT_EQ(peer_->grids().main(), peer_->grids().find(wire::open_grid("work")));
}

TEST_F(PeerOfStoredGrids, ARecordWithAnUnreadableKeyMayBeThatOfAGrid) {
  default_grid_ = "everybody";
  damaged_ = {"g"};
  start();
  EXPECT_TRUE(peer_->grids().all().empty());
}

// A store that was repaired without its grids led to the default grid, where every machine may have the code of a private job.
TEST_F(PeerOfStoredGrids, JoinsNoGridByDefaultAfterARepairThatFoundNone) {
  create_private_grid();
  records_.clear();
  records_[job::RecordKey::lost_grids().encode()] = "";
  default_grid_ = "everybody";
  start();
  EXPECT_TRUE(peer_->grids().all().empty());
  submit(1);
  EXPECT_EQ(count<job::JobRefused>(), 1u) << "a job that names no grid";
  request({.number = 1, .what = JoinOpenGrid{"work"}});
  EXPECT_EQ(peer_->grids().main(), peer_->grids().find(wire::open_grid("work"))) << "its user has chosen";
  EXPECT_FALSE(records_.contains(job::RecordKey::lost_grids().encode()));
  start();
  EXPECT_NE(peer_->grids().main(), nullptr);
}

TEST_F(PeerOfStoredGrids, ARecordOfAnotherGridIsDamage) {
  const GridId grid = create_private_grid();
  const std::string key = job::RecordKey{.kind = job::RecordKind::grid, .job = {grid.hash}}.encode();
  records_[key] = GridCredentials::open("work").record().SerializeAsString();
  start();
  EXPECT_TRUE(peer_->grids().all().empty());
}

TEST_F(LonelyPeer, AJobRecordWithTheCharterOfAnotherJobIsGivenUp) {
  const JobId job = submit(2);
  const std::string record = records_.at(job::RecordKey{.kind = job::RecordKind::job, .job = job}.encode());
  const JobId other{sha256(as_bytes("another job"))};
  records_[job::RecordKey{.kind = job::RecordKind::job, .job = other}.encode()] = record;
  start();
  EXPECT_TRUE(peer_->homes().contains(job));
  ASSERT_NE(peer_->past().find(other), nullptr);
  EXPECT_NE(peer_->past().find(other)->sentence().find("the charter of another job"), std::string::npos);
}

// The record of a thread that this peer keeps for a job of another one, and that job.
std::pair<JobId, wire::pb::KeptRecord> kept_thread() {
  wire::pb::JobCharter charter;
  charter.set_first_home(peer_id(1).bytes());
  charter.set_manifest(wire::bytes_of(sha256(as_bytes("a manifest"))));
  const Bytes signed_charter = job::Charter::sign(charter, a_key());
  const JobId job{sha256(signed_charter)};
  wire::pb::KeptRecord kept;
  kept.set_charter(std::string(as_text(signed_charter)));
  kept.set_epoch(1);
  kept.set_keeper_generation(1);
  return {job, kept};
}

TEST_F(LonelyPeer, AnImageThatIsGoneDoesNotKeepItFromStarting) {
  auto [job, kept] = kept_thread();
  kept.set_image_root(wire::bytes_of(sha256(as_bytes("not on the disk"))));
  const std::string key = job::RecordKey{.kind = job::RecordKind::kept, .job = job, .thread = ThreadId{7}}.encode();
  records_[key] = kept.SerializeAsString();
  start();
  EXPECT_EQ(peer_->keeper().size(), 0u);
  EXPECT_EQ(count<job::RecordsDamaged>(), 1u);
  EXPECT_FALSE(records_.contains(key));
}

TEST_F(LonelyPeer, KeptDeterminantsThatNoMessageMayHaveAreDamage) {
  auto [job, kept] = kept_thread();
  records_[job::RecordKey{.kind = job::RecordKind::kept, .job = job, .thread = ThreadId{7}}.encode()] = kept.SerializeAsString();
  wire::pb::DeterminantsRecord batch;
  batch.add_determinants()->set_what(1u << 16);
  records_[job::RecordKey{.kind = job::RecordKind::determinants, .job = job, .thread = ThreadId{7}}.encode()] = batch.SerializeAsString();
  start();
  EXPECT_EQ(peer_->keeper().size(), 0u);
  EXPECT_EQ(count<job::RecordsDamaged>(), 1u);
}

}  // namespace peer_test
}  // namespace gw::peer
