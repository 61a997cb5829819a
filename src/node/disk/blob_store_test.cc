#include "node/disk/blob_store.h"

#include <gtest/gtest.h>

#include <fstream>

namespace gw::node {
namespace {

namespace fs = std::filesystem;

class BlobStoreTest : public testing::Test {
 protected:
  Hash256 put(const std::string& bytes) {
    const Hash256 hash = sha256(as_bytes(bytes));
    EXPECT_TRUE(store_.store(std::vector<job::StoreBlob>{{hash, bytes}}));
    return hash;
  }
  fs::path file_of(const Hash256& hash) const { return folder_.path() / hash.hex().substr(0, 2) / hash.hex().substr(2); }

  os::TempDir folder_ = os::TempDir::make().value();
  BlobStore store_ = BlobStore::open(folder_.path()).value();
};

TEST_F(BlobStoreTest, GivesBackWhatItGot) {
  const Hash256 hash = put("bytes");
  EXPECT_TRUE(store_.has(hash));
  EXPECT_EQ(store_.load(hash).value(), "bytes");
  EXPECT_EQ(BlobStore::open(folder_.path()).value().load(hash).value(), "bytes");
  ASSERT_TRUE(store_.drop(hash));
  ASSERT_TRUE(store_.drop(hash));
  EXPECT_FALSE(store_.has(hash));
  EXPECT_EQ(store_.load(hash).error().kind, Kind::not_found);
}

TEST_F(BlobStoreTest, ADamagedBlobIsRefusedAndRemoved) {
  const Hash256 hash = put("bytes");
  std::ofstream(file_of(hash)) << "bytez";
  EXPECT_EQ(store_.load(hash).error().kind, Kind::corrupt);
  EXPECT_EQ(store_.load(hash).error().kind, Kind::not_found);
}

TEST_F(BlobStoreTest, ABlobThatGrewIsRefusedBeforeItIsRead) {
  const Hash256 hash = put("bytes");
  fs::resize_file(file_of(hash), 1ull << 32);
  EXPECT_EQ(store_.load(hash).error().kind, Kind::corrupt);
  EXPECT_EQ(store_.take_lost(), std::vector{hash});
}

TEST_F(BlobStoreTest, RetainsOnlyWhatIsNamed) {
  const Hash256 kept = put("kept"), gone = put("gone");
  const fs::path half = file_of(kept).string() + ".1-2.tmp";
  std::ofstream(half) << "half";
  ASSERT_TRUE(store_.retain({kept}));
  EXPECT_TRUE(store_.has(kept));
  EXPECT_FALSE(store_.has(gone));
  EXPECT_FALSE(fs::exists(half));
}

}  // namespace
}  // namespace gw::node
