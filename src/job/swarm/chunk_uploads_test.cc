#include "job/swarm/chunk_uploads.h"

#include <gtest/gtest.h>

#include "job/test/fake_disk.h"
#include "job/test/signers.h"

namespace gw::job {
namespace chunk_uploads_test {

using std::chrono::seconds;
using test::id_of;

class Uploading : public testing::Test {
 protected:
  Uploading() { swarm_.open(job_, std::nullopt); }

  static std::string bytes(int chunk) { return std::string(1u << 20, static_cast<char>('a' + chunk)); }
  Hash256 hash(int chunk) { return sha256(as_bytes(bytes(chunk))); }
  void add(int chunk) {
    blobs_.put({hash(chunk), bytes(chunk)}, job_, out_);
    blobs_.on_stored(hash(chunk));
    blobs_.set_cached(hash(chunk));
    out_.now.clear();
  }
  void want(std::uint8_t peer, int chunk, bool from_any = false) {
    uploads_.on_want(now_, {id_of(peer), job_, hash(chunk)}, from_any, out_);
    load();
  }
  void load() {
    for (const Action& action : std::exchange(out_.now, {})) {
      if (const auto* load = std::get_if<LoadBlob>(&action)) loads_.push_back(load->hash);
      if (const auto* send = std::get_if<Send>(&action)) sent_.push_back({send->to, send->message.job().blob()});
    }
    for (const Hash256& hash : std::exchange(loads_, {})) blobs_.on_loaded(hash, "bytes", out_);
    for (const Action& action : std::exchange(out_.now, {}))
      if (const auto* send = std::get_if<Send>(&action)) sent_.push_back({send->to, send->message.job().blob()});
  }
  void acknowledge(std::uint8_t peer, int chunk) {
    JobMessage::Have have;
    have.add_chunks(chunk_name(hash(chunk)));
    uploads_.on_have(now_, id_of(peer), have, out_);
    swarm_.on_have(now_, id_of(peer), job_, have, out_);
    load();
  }

  const JobId job_{sha256(as_bytes("a job"))};
  BlobReferences blobs_{{}, test::nobody_else};
  Swarm swarm_{{}, blobs_, test::nobody_else, test::no_distance, Rng(1)};
  ChunkUploads uploads_{{.window = 2u << 20}, blobs_, swarm_, Rng(2)};
  Actions out_;
  std::vector<Hash256> loads_;
  std::vector<std::pair<PeerId, JobMessage::Blob>> sent_;
  Time now_ = seconds(5);
};

TEST_F(Uploading, WhatIsNotAcknowledgedHoldsTheRestBack) {
  for (int chunk = 0; chunk < 4; ++chunk) add(chunk);
  for (int chunk = 0; chunk < 4; ++chunk) want(2, chunk);
  EXPECT_EQ(sent_.size(), 2u);
  acknowledge(2, 0);
  EXPECT_EQ(sent_.size(), 3u);
  uploads_.on_tick(now_ + seconds(10), out_);
  load();
  EXPECT_EQ(sent_.size(), 4u) << "a receiver that never acknowledges holds nothing back for long";
}

TEST_F(Uploading, PeersThatWaitTakeTurns) {
  for (int chunk = 0; chunk < 8; ++chunk) add(chunk);
  for (int chunk = 0; chunk < 8; ++chunk) want(2, chunk);
  want(3, 0);
  acknowledge(2, 0);
  ASSERT_EQ(sent_.size(), 3u);
  EXPECT_EQ(sent_[2].first, id_of(3));
}

TEST_F(Uploading, HomeSendsAChunkOnceAndNamesItsReceiver) {
  add(0);
  want(2, 0, true);
  ASSERT_EQ(sent_.size(), 1u);
  want(3, 0, true);
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_TRUE(sent_[1].second.missing());
  ASSERT_EQ(sent_[1].second.holders_size(), 1);
  EXPECT_EQ(sent_[1].second.holders(0), id_of(2).bytes());
  want(3, 0, false);
  ASSERT_EQ(sent_.size(), 3u);
  EXPECT_FALSE(sent_[2].second.missing()) << "the other host did not send it";
}

TEST_F(Uploading, TheReceiverIsNamedForALimitedTimeUnlessItAnnouncesTheChunk) {
  add(0);
  want(2, 0, true);
  acknowledge(2, 0);
  now_ += seconds(60);
  want(3, 0, true);
  EXPECT_TRUE(sent_.back().second.missing()) << "it has announced the chunk";
  add(1);
  want(2, 1, true);
  now_ += seconds(60);
  uploads_.on_tick(now_, out_);
  want(3, 1, true);
  EXPECT_FALSE(sent_.back().second.missing());
}

TEST_F(Uploading, AChunkOnItsWayIsSentWhenItHasCome) {
  ASSERT_TRUE(blobs_.expect(hash(0), job_));
  want(3, 0);
  want(3, 0);
  EXPECT_TRUE(sent_.empty());
  add(0);
  uploads_.on_stored(now_, hash(0), out_);
  load();
  EXPECT_EQ(sent_.size(), 1u);
  uploads_.close(job_);
  EXPECT_EQ(uploads_.waiting(), 0u);
}

}  // namespace chunk_uploads_test
}  // namespace gw::job
