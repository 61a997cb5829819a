#include "job/blob_references.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

PeerId peer(std::uint8_t number) { return {sha256(ByteView(&number, 1))}; }

JobMessage::Blob blob(const std::string& name_of, const std::string& bytes) {
  JobMessage::Blob message;
  message.set_hash(wire::bytes_of(sha256(as_bytes(name_of))));
  message.set_bytes(bytes);
  return message;
}

class Blobs : public testing::Test {
 protected:
  const Hash256 wanted_ = sha256(as_bytes("wanted"));
  const JobId job_{sha256(as_bytes("a job"))};
  BlobReferences book_{{}};
  Actions out_;
};

TEST_F(Blobs, RefusesBytesOfAnotherHash) {
  ASSERT_TRUE(book_.want(Time(0), wanted_, job_, peer(1), out_));
  const Status status = book_.on_blob(peer(1), blob("wanted", "forged"), out_);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, Kind::corrupt);
  ASSERT_TRUE(book_.on_blob(peer(1), blob("wanted", "wanted"), out_));
  book_.on_stored(wanted_);
  EXPECT_TRUE(book_.has(wanted_));
}

TEST_F(Blobs, TakesNothingThatNobodyAskedFor) {
  ASSERT_TRUE(book_.on_blob(peer(1), blob("wanted", "wanted"), out_));
  EXPECT_TRUE(out_.now.empty());
  ASSERT_TRUE(book_.want(Time(0), wanted_, job_, peer(1), out_));
  out_.now.clear();
  ASSERT_TRUE(book_.on_blob(peer(2), blob("wanted", "wanted"), out_));
  EXPECT_TRUE(out_.now.empty());
}

// Two threads want the same blob, each from its own keeper.
TEST_F(Blobs, AsksAllThatAreSaidToHaveItInTurn) {
  const Time retry = BlobReferences::Config{}.retry;
  ASSERT_TRUE(book_.want(Time(0), wanted_, job_, peer(1), out_));
  ASSERT_TRUE(book_.want(Time(0), wanted_, job_, peer(2), out_));
  ASSERT_TRUE(book_.want(Time(0), wanted_, job_, peer(1), out_));
  for (int turn = 1; turn <= 3; ++turn) book_.on_tick(turn * retry, out_);
  std::vector<PeerId> asked;
  for (const Action& action : out_.now) asked.push_back(std::get<Send>(action).to);
  EXPECT_EQ(asked, (std::vector{peer(1), peer(2), peer(1), peer(2)}));
  JobMessage::Blob missing;
  missing.set_hash(wire::bytes_of(wanted_));
  missing.set_missing(true);
  ASSERT_TRUE(book_.on_blob(peer(2), missing, out_));
  ASSERT_TRUE(book_.on_blob(peer(1), blob("wanted", "wanted"), out_)) << "late, and welcome";
  book_.on_stored(wanted_);
  EXPECT_TRUE(book_.has(wanted_));
}

TEST_F(Blobs, DropsWhatTheLastOneLetsGo) {
  book_.put({wanted_, "wanted"}, out_);
  book_.adopt(wanted_);
  out_.now.clear();
  book_.release(wanted_, out_);
  EXPECT_TRUE(out_.now.empty());
  book_.release(wanted_, out_);
  ASSERT_EQ(out_.now.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<DropBlob>(out_.now[0]));
}

}  // namespace
}  // namespace gw::job
