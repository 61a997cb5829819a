#include "node/disk/disk.h"

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>

namespace gw::node {
namespace {

Hash256 hash_of(const std::string& bytes) { return sha256(as_bytes(bytes)); }

class DiskTest : public testing::Test, public Disk::Owner {
 protected:
  void on_disk(peer::DiskDone done) override { answers_.push_back(std::move(done)); }
  void on_disk_failed(const Error& error) override { failure_ = error; }

  void until(const std::function<bool()>& holds) {
    while (!holds()) io_.run_one();
  }
  void wait_for(std::size_t answers) {
    until([&] { return answers_.size() >= answers; });
  }
  bool has(const Hash256& hash) {
    std::optional<bool> found;
    disk_.with_blobs([&](BlobStore& blobs) { disk_.answer([&found, has = blobs.has(hash)] { found = has; }); });
    until([&] { return found.has_value(); });
    return *found;
  }
  void store(const std::string& bytes) { disk_.store({hash_of(bytes), bytes}, os::Durability::unflushed); }
  job::Persist batch(job::Ticket ticket) { return {ticket, {{"key", std::to_string(ticket)}}, job::Durability::group}; }

  os::TempDir folder_ = os::TempDir::make().value();
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_{io_.get_executor()};
  std::vector<peer::DiskDone> answers_;
  std::optional<Error> failure_;
  Disk disk_{io_, {RecordStore::open(folder_.path() / "records").value(), BlobStore::open(folder_.path() / "blobs").value()}, *this};
};

TEST_F(DiskTest, AnswersBatchesInOrder) {
  for (job::Ticket ticket = 1; ticket <= 200; ++ticket) disk_.persist(batch(ticket));
  wait_for(200);
  for (job::Ticket ticket = 1; ticket <= 200; ++ticket) EXPECT_EQ(std::get<peer::Persisted>(answers_[ticket - 1]).ticket, ticket);
}

TEST_F(DiskTest, ABlobComesBackAsItWas) {
  store("blob");
  disk_.load(hash_of("blob"));
  disk_.load(hash_of("no blob"));
  wait_for(3);
  EXPECT_EQ(std::get<peer::BlobStored>(answers_[0]).hash, hash_of("blob"));
  EXPECT_EQ(std::get<peer::BlobLoaded>(answers_[1]).bytes, "blob");
  EXPECT_EQ(std::get<peer::BlobLoaded>(answers_[2]).bytes, std::nullopt);
}

TEST_F(DiskTest, ABlobIsDroppedOnlyAfterTheRecordsBeforeIt) {
  store("blob");
  wait_for(1);
  disk_.persist(batch(1));
  disk_.drop(hash_of("blob"));
  bool there = false;
  disk_.with_blobs([&](BlobStore& blobs) { there = blobs.has(hash_of("blob")); });
  wait_for(2);
  EXPECT_FALSE(has(hash_of("blob")));
  EXPECT_TRUE(there);  // the node thread had not heard of the commit when this was asked
}

TEST_F(DiskTest, ABlobThatIsWantedAgainStays) {
  store("again");
  disk_.persist(batch(1));
  disk_.drop(hash_of("again"));
  store("again");
  wait_for(3);
  EXPECT_TRUE(has(hash_of("again")));
}

TEST_F(DiskTest, ADiskThatCannotBeWrittenSaysSoOnceAndNothingElse) {
  std::filesystem::remove_all(folder_.path() / "blobs");
  store("a");
  store("b");
  until([&] { return failure_.has_value(); });
  disk_.load(hash_of("a"));
  std::optional<bool> passed;
  disk_.with_blobs([&](BlobStore&) { disk_.answer([&] { passed = true; }); });
  until([&] { return passed.has_value(); });
  EXPECT_TRUE(answers_.empty());
}

}  // namespace
}  // namespace gw::node
