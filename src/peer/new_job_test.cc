#include "peer/new_job.h"

#include "peer/test/lonely_peer.h"

namespace gw::peer {
namespace peer_test {

TEST_F(LonelyPeer, AKeyIsOneJobWhetherItRunsOrIsOver) {
  job_key_ = "nightly";
  const JobId job = submit(1);
  EXPECT_EQ(submit(1), job);
  EXPECT_EQ(count<job::JobAccepted>(), 2u) << "the same submission again";
  EXPECT_NE(submit(2), job);
  EXPECT_EQ(count<job::JobRefused>(), 1u) << "other content while it runs";
  tick(milliseconds(2000));
  wire::pb::FromWorker loaded;
  loaded.mutable_loaded();
  say(loaded);
  say(end_of(job::kMainThread, 0));
  tick(milliseconds(1000));
  ASSERT_NE(peer_->past().find(job), nullptr);
  submit(2);
  EXPECT_EQ(count<job::JobRefused>(), 2u) << "other content when it is over";
  give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, Forget{job}, out); });
  submit(2);
  EXPECT_EQ(count<job::JobRefused>(), 2u) << "a key goes with its job";
}

TEST(Charter, TheNonceOfAKeyFollowsFromTheKey) {
  wire::pb::JobCharter content;
  content.set_first_home(std::string(32, 'h'));
  content.set_manifest(std::string(32, 'm'));
  content.set_key("nightly");
  const SigningKey key(sha256(as_bytes("a submitter")).bytes);
  EXPECT_FALSE(job::Charter::check(job::Charter::sign(content, key)));
  content.set_nonce(job::nonce_of_key("nightly"));
  EXPECT_EQ(job::Charter::check(job::Charter::sign(content, key))->key(), "nightly");
  content.set_key(std::string(200, 'k'));
  content.set_nonce(job::nonce_of_key(content.key()));
  EXPECT_FALSE(job::Charter::check(job::Charter::sign(content, key)));
}

}  // namespace peer_test
}  // namespace gw::peer
