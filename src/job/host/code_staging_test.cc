#include "job/host/code_staging.h"

#include <gtest/gtest.h>

#include "job/test/fake_disk.h"
#include "job/test/signers.h"

namespace gw::job {
namespace code_staging_test {

using std::chrono::seconds;
using test::id_of;

class Staging : public testing::Test {
 protected:
  Staging() {
    wire::pb::Manifest content;
    content.mutable_module()->set_hash(wire::bytes_of(sha256(as_bytes("module"))));
    content.mutable_module()->set_size(6);
    content.mutable_module()->add_chunks(wire::bytes_of(sha256(as_bytes("module"))));
    content.mutable_config()->set_random_seed(std::string(32, 's'));
    wire::pb::InputEntry& input = *content.mutable_config()->add_inputs();
    input.set_path("in");
    input.set_size(5);
    input.add_chunks(wire::bytes_of(sha256(as_bytes("input"))));
    wire::pb::InputEntry& more = *content.mutable_config()->add_inputs();
    more.set_path("more");
    more.set_size(10);
    more.add_chunks(wire::bytes_of(sha256(as_bytes("more input"))));
    content.mutable_policy()->set_slots(1);
    *content.mutable_image() = Manifest::describe(as_bytes("image"));
    manifest_ = std::string(as_text(Manifest::encode(content)));
    staging_.emplace(CodeStaging::Config{.chunk_waits = 1}, blobs_, swarm_, storage_,
                     CodeStaging::Source{JobId{sha256(as_bytes("a job"))}, id_of(1), sha256(as_bytes(manifest_))});
    staging_->begin(seconds(1), out_);
  }

  // Stores a blob that comes from home, and loads the bytes that the staging asks for.
  void receive(const std::string& bytes) {
    staging_->on_blob_stored(seconds(1), disk_.receive(id_of(1), bytes, out_), out_);
    load();
  }
  void load() {
    disk_.take(out_);
    for (const Hash256& hash : std::exchange(disk_.loads, {})) staging_->on_loaded(seconds(1), hash, disk_.find(hash), out_);
    disk_.take(out_);
  }
  void stage() {
    receive(manifest_);
    receive("module");
    ASSERT_TRUE(staging_->staged());
  }

  std::string manifest_;
  BlobReferences blobs_{{}, test::nobody_else};
  Swarm swarm_{{}, blobs_, test::nobody_else, test::no_distance, Rng(1)};
  Budget budget_{{}};
  HostedStorage storage_{&budget_, {JobId{sha256(as_bytes("a job"))}, id_of(1), {}}};
  test::FakeDisk disk_{blobs_};
  Actions out_;
  std::optional<CodeStaging> staging_;
};

TEST_F(Staging, FetchesManifestThenModule) {
  EXPECT_EQ(staging_->manifest(), nullptr);
  receive(manifest_);
  ASSERT_NE(staging_->manifest(), nullptr);
  EXPECT_FALSE(staging_->staged());
  receive("module");
  EXPECT_TRUE(staging_->staged());
  EXPECT_FALSE(staging_->worker());
  staging_->close(out_);
  EXPECT_EQ(blobs_.size(), 0u);
}

TEST_F(Staging, AWorkerIsReadyWhenItHasLoadedTheModule) {
  stage();
  staging_->start_worker(WorkerId{3}, 2, 500, out_);
  disk_.take(out_);
  ASSERT_EQ(disk_.frames.size(), 1u);
  EXPECT_EQ(disk_.frames[0].load().pool_threads(), 2u);
  EXPECT_EQ(disk_.frames[0].load().determinants_after_image(), 500u);
  EXPECT_FALSE(staging_->ready());
  staging_->on_worker_loaded();
  EXPECT_TRUE(staging_->ready());
  staging_->on_worker_died(seconds(1));
  EXPECT_TRUE(staging_->staged()) << "another one can be started";
}

TEST_F(Staging, InputsAreFetchedWhenTheWorkerWantsThem) {
  stage();
  staging_->start_worker(WorkerId{3}, 1, 500, out_);
  staging_->on_worker_loaded();
  EXPECT_EQ(staging_->on_want_chunk(seconds(1), sha256(as_bytes("else")), out_).error().kind, Kind::invalid);
  ASSERT_TRUE(staging_->on_want_chunk(seconds(1), sha256(as_bytes("input")), out_));
  EXPECT_EQ(staging_->on_want_chunk(seconds(1), sha256(as_bytes("input")), out_).error().kind, Kind::invalid) << "one at a time";
  receive("input");
  ASSERT_EQ(disk_.frames.size(), 2u);
  EXPECT_EQ(disk_.frames[1].chunk().bytes(), "input");
  ASSERT_TRUE(staging_->on_want_chunk(seconds(1), sha256(as_bytes("input")), out_));
  load();
  EXPECT_EQ(disk_.frames.size(), 3u) << "it is here already";
}

TEST_F(Staging, AnInputMakesRoomForAnother) {
  stage();
  staging_->start_worker(WorkerId{3}, 1, 500, out_);
  staging_->on_worker_loaded();
  Budget::Limits limits;
  limits.job.blobs = budget_.used().blobs + 1;
  budget_.set_limits(limits);
  ASSERT_TRUE(staging_->on_want_chunk(seconds(1), sha256(as_bytes("input")), out_));
  receive("input");
  ASSERT_TRUE(staging_->on_want_chunk(seconds(1), sha256(as_bytes("more input")), out_));
  EXPECT_FALSE(blobs_.is_held(sha256(as_bytes("input")), JobId{sha256(as_bytes("a job"))}));
  receive("more input");
  EXPECT_EQ(disk_.frames.back().chunk().bytes(), "more input");
  ASSERT_TRUE(staging_->on_want_chunk(seconds(1), sha256(as_bytes("input")), out_)) << "it is fetched again";
  EXPECT_EQ(budget_.used().blobs, limits.job.blobs);
}

// Workers were started and died, one after the other, for as long as a part of the module was missing.
TEST_F(Staging, NoWorkerIsStartedWithAModuleThatIsDamaged) {
  stage();
  staging_->start_worker(WorkerId{3}, 1, 500, out_);
  const Hash256 module = sha256(as_bytes("module"));
  blobs_.on_lost(seconds(1), module);
  staging_->on_worker_died(seconds(1));
  EXPECT_FALSE(staging_->staged());
  blobs_.put({module, "module"}, JobId{}, out_);
  disk_.take(out_);
  blobs_.on_stored(module);
  staging_->on_blob_stored(seconds(1), module, out_);
  EXPECT_TRUE(staging_->staged());
}

TEST_F(Staging, AWorkerWaitsNoMoreForWhatIsLost) {
  stage();
  staging_->start_worker(WorkerId{3}, 1, 500, out_);
  staging_->on_worker_loaded();
  const Hash256 input = sha256(as_bytes("input"));
  ASSERT_TRUE(staging_->on_want_chunk(seconds(1), input, out_));
  ASSERT_EQ(staging_->need_of(input), CodeStaging::Need::worker);
  staging_->on_blob_lost(input);
  EXPECT_EQ(staging_->need_of(input), CodeStaging::Need::none);
  EXPECT_TRUE(staging_->on_want_chunk(seconds(1), input, out_)) << "there is room for one that waits";
}

TEST_F(Staging, TheImageOfTheBeginningIsFetchedForTheThreadThatBeginsWithIt) {
  stage();
  EXPECT_FALSE(blobs_.has(sha256(as_bytes("image")))) << "nobody wants it before";
  EXPECT_FALSE(staging_->stage_start(seconds(1), 0, out_)->has_value());
  EXPECT_EQ(staging_->need_of(sha256(as_bytes("image"))), CodeStaging::Need::program);
  receive("image");
  EXPECT_TRUE(staging_->stage_start(seconds(1), 0, out_)->has_value());
  staging_->close(out_);
  EXPECT_EQ(blobs_.size(), 0u);
}

TEST_F(Staging, AManifestThatIsNoneIsTheFaultOfHome) {
  manifest_ = "nonsense";
  CodeStaging other({}, blobs_, swarm_, storage_, {JobId{sha256(as_bytes("other"))}, id_of(1), sha256(as_bytes(manifest_))});
  other.begin(seconds(1), out_);
  const Hash256 hash = disk_.receive(id_of(1), manifest_, out_);
  other.on_blob_stored(seconds(1), hash, out_);
  other.on_loaded(seconds(1), hash, manifest_, out_);
  disk_.take(out_);
  ASSERT_EQ(disk_.events.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<PeerRefused>(disk_.events[0]));
  EXPECT_FALSE(other.staged());
}

}  // namespace code_staging_test
}  // namespace gw::job
