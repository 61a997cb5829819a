#include "job/images/blob_cache.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace blob_cache_test {

Hash256 hash(char name) { return sha256(as_bytes(std::string(1, name))); }

TEST(BlobCache, TheLongestUnusedLeavesFirst) {
  BlobCache cache({.bytes = 100});
  EXPECT_TRUE(cache.add(hash('a'), 40).empty());
  EXPECT_TRUE(cache.add(hash('b'), 40).empty());
  EXPECT_EQ(cache.take(hash('a')), 40u);
  EXPECT_TRUE(cache.add(hash('a'), 40).empty());
  EXPECT_EQ(cache.add(hash('c'), 40), (std::vector{hash('b')}));
  EXPECT_EQ(cache.bytes(), 80u);
  EXPECT_EQ(cache.hits(), 1u);
  EXPECT_EQ(cache.hit_bytes(), 40u);
}

TEST(BlobCache, ALowerLimitEmptiesIt) {
  BlobCache cache({.bytes = 100});
  cache.add(hash('a'), 40);
  cache.add(hash('b'), 40);
  EXPECT_EQ(cache.set_limit(50), (std::vector{hash('a')}));
  EXPECT_EQ(cache.set_limit(0), (std::vector{hash('b')}));
  EXPECT_EQ(cache.add(hash('c'), 1), (std::vector{hash('c')}));
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(BlobCache, TheNumberOfBlobsIsLimitedToo) {
  BlobCache cache({.bytes = 100, .blobs = 2});
  cache.add(hash('a'), 1);
  cache.add(hash('b'), 1);
  EXPECT_EQ(cache.add(hash('c'), 1), (std::vector{hash('a')}));
}

}  // namespace blob_cache_test
}  // namespace gw::job
