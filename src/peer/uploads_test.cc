#include "peer/uploads.h"

#include <gtest/gtest.h>

namespace gw::peer {
namespace {

using job::Actions;
using std::chrono::minutes;

job::Blob blob(const std::string& bytes) { return {sha256(as_bytes(bytes)), bytes}; }

template <class Event>
std::size_t count(const Actions& out) {
  std::size_t events = 0;
  for (const job::Action& action : out.now)
    if (const auto* notice = std::get_if<job::Notify>(&action)) events += std::holds_alternative<Event>(notice->event) ? 1 : 0;
  return events;
}

class UploadsTest : public testing::Test {
 protected:
  job::BlobReferences blobs_{{}, [](const job::JobId&) { return std::vector<job::PeerId>(); }};
  Uploads uploads_{{.keep = minutes(10), .blobs = 2}, blobs_};
  Actions out_;
};

TEST_F(UploadsTest, AFullDiskTakesNothing) {
  blobs_.set_disk_full(true);
  uploads_.add(minutes(0), blob("a"), out_);
  EXPECT_EQ(count<job::BlobRefused>(out_), 1u);
  EXPECT_EQ(blobs_.size(), 0u);
  blobs_.set_disk_full(false);
  uploads_.add(minutes(0), blob("a"), out_);
  EXPECT_EQ(blobs_.size(), 1u);
}

TEST_F(UploadsTest, SaysWhenABlobIsOnDisk) {
  uploads_.add(minutes(0), blob("a"), out_);
  EXPECT_EQ(count<job::BlobUploaded>(out_), 0u);
  blobs_.on_stored(blob("a").hash);
  uploads_.on_stored(blob("a").hash, out_);
  EXPECT_EQ(count<job::BlobUploaded>(out_), 1u);
  uploads_.add(minutes(1), blob("a"), out_);  // it is there
  EXPECT_EQ(count<job::BlobUploaded>(out_), 2u);
}

TEST_F(UploadsTest, LetsGoWhatNoJobHasTaken) {
  uploads_.add(minutes(0), blob("a"), out_);
  uploads_.add(minutes(0), blob("b"), out_);
  uploads_.add(minutes(5), blob("b"), out_);
  EXPECT_EQ(uploads_.next_deadline(), minutes(10));
  uploads_.on_tick(minutes(10), out_);
  EXPECT_EQ(blobs_.size(), 1u);
  EXPECT_EQ(uploads_.next_deadline(), minutes(15));
}

TEST_F(UploadsTest, RefusesMoreThanItsLimit) {
  for (const char* bytes : {"a", "b", "c"}) uploads_.add(minutes(0), blob(bytes), out_);
  EXPECT_EQ(count<job::BlobRefused>(out_), 1u);
  EXPECT_EQ(blobs_.size(), 2u);
}

}  // namespace
}  // namespace gw::peer
