#include "toolchain/build_cache.h"

#include <gtest/gtest.h>

#include "os/files/file.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

class BuildCacheTest : public testing::Test {
 protected:
  Hash256 key(std::string_view text) const { return sha256(as_bytes(text)); }

  os::TempDir dir_ = os::TempDir::make().value();
};

TEST_F(BuildCacheTest, FindsWhatWasStored) {
  const BuildCache cache = BuildCache::open(dir_.path() / "new" / "folder").value();
  EXPECT_FALSE(cache.find(key("a")));
  ASSERT_TRUE(cache.store(key("a"), as_bytes("content")));
  EXPECT_EQ(cache.find(key("a")), Bytes({'c', 'o', 'n', 't', 'e', 'n', 't'}));
  EXPECT_FALSE(cache.find(key("b")));
}

TEST_F(BuildCacheTest, ForgetsWhatIsDamaged) {
  const BuildCache cache = BuildCache::open(dir_.path()).value();
  const fs::path file = dir_.path() / key("a").hex();
  for (std::size_t bit : {0u, 40u * 8}) {
    ASSERT_TRUE(cache.store(key("a"), Bytes(100)));
    Bytes bytes = os::read_file(file, 1000).value();
    bytes[bit / 8] ^= 1;
    ASSERT_TRUE(os::write_file_atomic(file, bytes));
    EXPECT_FALSE(cache.find(key("a")));
    EXPECT_FALSE(fs::exists(file));
  }
  ASSERT_TRUE(os::write_file_atomic(file, as_bytes("short")));
  EXPECT_FALSE(cache.find(key("a")));
}

TEST_F(BuildCacheTest, DropsWhatWasUsedLeastRecently) {
  const BuildCache cache = BuildCache::open(dir_.path(), 3500).value();
  const auto now = fs::file_time_type::clock::now();
  int age = 3;
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(cache.store(key(name), Bytes(1000)));
    fs::last_write_time(dir_.path() / key(name).hex(), now - std::chrono::hours(age--));
  }
  ASSERT_TRUE(cache.find(key("a"))) << "now the one used last";
  ASSERT_TRUE(cache.store(key("d"), Bytes(1000)));
  EXPECT_TRUE(cache.find(key("a")));
  EXPECT_FALSE(cache.find(key("b")));
  EXPECT_TRUE(cache.find(key("c")));
  EXPECT_TRUE(cache.find(key("d")));
}

}  // namespace
}  // namespace gw::toolchain
