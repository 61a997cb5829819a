#include "job/images/blob_references.h"

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
  std::vector<PeerId> holders_;
  BlobReferences book_{{}, [this](const JobId&) { return holders_; }};
  Actions out_;
};

TEST_F(Blobs, RefusesBytesOfAnotherHash) {
  ASSERT_TRUE(book_.want(Time(0), wanted_, job_, peer(1), out_));
  const Status status = book_.on_blob(Time(0), peer(1), blob("wanted", "forged"), out_);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, Kind::corrupt);
  ASSERT_TRUE(book_.on_blob(Time(0), peer(1), blob("wanted", "wanted"), out_));
  book_.on_stored(wanted_);
  EXPECT_TRUE(book_.has(wanted_));
}

TEST_F(Blobs, RefusesUnrequestedBlobs) {
  ASSERT_TRUE(book_.on_blob(Time(0), peer(1), blob("wanted", "wanted"), out_));
  EXPECT_TRUE(out_.now.empty());
  ASSERT_TRUE(book_.want(Time(0), wanted_, job_, peer(1), out_));
  out_.now.clear();
  ASSERT_TRUE(book_.on_blob(Time(0), peer(2), blob("wanted", "wanted"), out_));
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
  ASSERT_TRUE(book_.on_blob(Time(0), peer(2), missing, out_));
  ASSERT_TRUE(book_.on_blob(Time(0), peer(1), blob("wanted", "wanted"), out_)) << "late, and welcome";
  book_.on_stored(wanted_);
  EXPECT_TRUE(book_.has(wanted_));
}

TEST_F(Blobs, DropsWhatTheLastOneLetsGo) {
  book_.put({wanted_, "wanted"}, job_, out_);
  book_.adopt(wanted_, job_);
  out_.now.clear();
  book_.release(wanted_, job_, out_);
  EXPECT_TRUE(out_.now.empty());
  book_.release(wanted_, job_, out_);
  ASSERT_EQ(out_.now.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<DropBlob>(out_.now[0]));
}

std::vector<PeerId> asked_in(const Actions& out) {
  std::vector<PeerId> asked;
  for (const Action& action : out.now)
    if (const auto* send = std::get_if<Send>(&action); send != nullptr && send->message.job().has_want_blob()) asked.push_back(send->to);
  return asked;
}

JobMessage::Blob lacking(const Hash256& hash) {
  JobMessage::Blob message;
  message.set_hash(wire::bytes_of(hash));
  message.set_missing(true);
  return message;
}

// Defect 6: a blob that was damaged on the disk was never asked for again.
TEST_F(Blobs, ALostBlobIsAskedForFromAllMembersOfTheJob) {
  holders_ = {peer(1), peer(2)};
  book_.adopt(wanted_, job_);
  ASSERT_TRUE(book_.has(wanted_));
  book_.on_lost(Time(0), wanted_);
  EXPECT_FALSE(book_.has(wanted_));
  book_.on_tick(Time(0), out_);
  ASSERT_TRUE(book_.on_blob(Time(1), peer(1), lacking(wanted_), out_));
  EXPECT_TRUE(book_.take_lost().empty());
  EXPECT_EQ(asked_in(out_), (std::vector{peer(1), peer(2)})) << "the next one is asked at once";
  EXPECT_EQ(book_.next_deadline(), Time(1) + BlobReferences::Config{}.retry);
  ASSERT_TRUE(book_.on_blob(Time(2), peer(2), blob("wanted", "wanted"), out_));
  book_.on_stored(wanted_);
  EXPECT_TRUE(book_.has(wanted_));
}

// An earlier version asked for the first 1,024 hashes in order and no others: a peer that offered as many low hashes stopped all fetches.
TEST_F(Blobs, APeerThatNeverAnswersDelaysNoOther) {
  constexpr std::uint64_t kSilent = 3000;
  for (std::uint64_t i = 0; i < kSilent; ++i) {
    Hash256 small{};
    small.bytes[30] = static_cast<std::uint8_t>(i >> 8);
    small.bytes[31] = static_cast<std::uint8_t>(i);
    ASSERT_TRUE(book_.want(Time(0), small, job_, peer(1), out_));
  }
  EXPECT_EQ(asked_in(out_).size(), BlobReferences::Config{}.in_flight);
  out_ = {};
  ASSERT_TRUE(book_.want(Time(1), wanted_, job_, peer(2), out_));
  EXPECT_EQ(asked_in(out_), std::vector{peer(2)});
  out_ = {};
  book_.on_tick(BlobReferences::Config{}.retry, out_);
  EXPECT_EQ(asked_in(out_), std::vector(BlobReferences::Config{}.in_flight, peer(1))) << "the next of them";
  ASSERT_TRUE(book_.on_blob(Time(2), peer(2), blob("wanted", "wanted"), out_));
  book_.on_stored(wanted_);
  EXPECT_TRUE(book_.has(wanted_));
}

TEST_F(Blobs, AReleasedBlobMakesRoomForTheNextRequest) {
  BlobReferences narrow({.in_flight = 1}, [this](const JobId&) { return holders_; });
  const Hash256 second = sha256(as_bytes("second"));
  ASSERT_TRUE(narrow.want(Time(5), wanted_, job_, peer(1), out_));
  ASSERT_TRUE(narrow.want(Time(5), second, job_, peer(1), out_));
  EXPECT_EQ(asked_in(out_).size(), 1u);
  narrow.release(wanted_, job_, out_);
  EXPECT_LE(narrow.next_deadline(), Time(5)) << "at once";
  narrow.on_tick(Time(6), out_);
  EXPECT_EQ(asked_in(out_).size(), 2u);
}

// An earlier version held an image of gigabytes in memory when the disk was slower than the network.
TEST_F(Blobs, NothingIsAskedForWhileTheDiskIsBehind) {
  BlobReferences small({.in_flight = 1, .unstored_bytes = 6}, [this](const JobId&) { return holders_; });
  const Hash256 second = sha256(as_bytes("second"));
  ASSERT_TRUE(small.want(Time(5), wanted_, job_, peer(1), out_));
  ASSERT_TRUE(small.want(Time(5), second, job_, peer(1), out_));
  ASSERT_TRUE(small.on_blob(Time(6), peer(1), blob("wanted", "wanted"), out_));
  small.on_tick(Time(7), out_);
  EXPECT_EQ(asked_in(out_).size(), 1u);
  EXPECT_EQ(small.next_deadline(), kNever) << "the answer of the disk is waited for";
  small.on_stored(wanted_);
  EXPECT_LE(small.next_deadline(), Time(7));
  small.on_tick(Time(8), out_);
  EXPECT_EQ(asked_in(out_).size(), 2u);
}

// An earlier version of home that was still writing the manifest answered that it had none, and the host reported the job as lost.
TEST_F(Blobs, ABlobThatIsBeingWrittenIsNotReportedMissing) {
  book_.put({wanted_, "wanted"}, job_, out_);
  out_ = {};
  book_.on_want(peer(1), job_, wanted_, out_);
  EXPECT_TRUE(out_.empty());
  book_.on_stored(wanted_);
  book_.on_want(peer(1), job_, wanted_, out_);
  EXPECT_FALSE(out_.empty());
}

TEST_F(Blobs, TheDamagedFileIsDroppedWithTheLastNeed) {
  book_.adopt(wanted_, job_);
  book_.on_lost(Time(0), wanted_);
  book_.release(wanted_, job_, out_);
  ASSERT_EQ(out_.now.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<DropBlob>(out_.now[0]));
}

TEST_F(Blobs, ABlobThatNoMemberHasIsReportedAndAskedForAgain) {
  ASSERT_TRUE(book_.want(Time(0), wanted_, job_, peer(1), out_));
  holders_ = {peer(1), peer(2)};
  ASSERT_TRUE(book_.on_blob(Time(0), peer(1), lacking(wanted_), out_));
  book_.on_tick(Time(0), out_);
  EXPECT_EQ(asked_in(out_), (std::vector{peer(1), peer(2)})) << "a peer of the job might have it, although nobody said so";
  ASSERT_TRUE(book_.on_blob(Time(1), peer(2), lacking(wanted_), out_));
  EXPECT_EQ(book_.take_lost(), std::vector{wanted_});
  EXPECT_TRUE(book_.take_lost().empty());
  EXPECT_EQ(book_.next_deadline(), Time(1) + BlobReferences::Config{}.ask_all_again);
}

// A peer that was away for long is no member any more. It does not know the job when it comes back, and so never answers.
TEST_F(Blobs, APeerThatHasLeftTheJobIsNotWaitedFor) {
  holders_ = {peer(1), peer(2)};
  book_.adopt(wanted_, job_);
  book_.on_lost(Time(0), wanted_);
  book_.on_tick(Time(0), out_);
  ASSERT_TRUE(book_.on_blob(Time(1), peer(1), lacking(wanted_), out_));
  EXPECT_EQ(asked_in(out_), (std::vector{peer(1), peer(2)}));
  EXPECT_TRUE(book_.take_lost().empty()) << "the other member may come back with it";
  holders_ = {peer(1)};
  book_.on_tick(Time(1) + BlobReferences::Config{}.retry, out_);
  EXPECT_EQ(book_.take_lost(), std::vector{wanted_});
  EXPECT_EQ(book_.next_deadline(), Time(1) + BlobReferences::Config{}.retry + BlobReferences::Config{}.ask_all_again);
}

TEST_F(Blobs, APeerThatHasLeftTheJobIsNotAskedForWhatWaitsInItsQueue) {
  BlobReferences narrow({.in_flight = 1}, [this](const JobId&) { return holders_; });
  holders_ = {peer(1), peer(2)};
  const Hash256 second = sha256(as_bytes("second"));
  for (const Hash256& hash : {wanted_, second}) {
    narrow.adopt(hash, job_);
    narrow.on_lost(Time(0), hash);
  }
  narrow.on_tick(Time(0), out_);
  EXPECT_EQ(asked_in(out_), std::vector{peer(1)}) << "the other one waits in its queue";
  holders_ = {peer(2)};
  ASSERT_TRUE(narrow.on_blob(Time(1), peer(2), lacking(wanted_), out_));
  ASSERT_TRUE(narrow.on_blob(Time(1), peer(2), lacking(second), out_));
  EXPECT_EQ(narrow.take_lost(), (std::vector{wanted_, second}));
  narrow.on_tick(Time(2), out_);
  EXPECT_EQ(asked_in(out_), std::vector{peer(1)});
}

TEST_F(Blobs, IsGivenOnlyInTheNameOfAJobThatNeedsIt) {
  const JobId other{sha256(as_bytes("another job"))};
  book_.adopt(wanted_, job_);
  book_.on_want(peer(1), other, wanted_, out_);
  ASSERT_EQ(out_.now.size(), 1u);
  EXPECT_TRUE(std::get<Send>(out_.now[0]).message.job().blob().missing());
  book_.on_want(peer(1), job_, wanted_, out_);
  EXPECT_TRUE(std::holds_alternative<LoadBlob>(out_.now[1]));
}

}  // namespace
}  // namespace gw::job
