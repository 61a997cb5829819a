#include "isolate/engine/code_cache.h"

#include <gtest/gtest.h>

#include <fstream>

#include "os/files/file.h"

namespace gw::isolate {
namespace {

namespace fs = std::filesystem;

class CodeCacheTest : public ::testing::Test {
 protected:
  CodeCacheTest() : folder_(*os::TempDir::make()), root(folder_.path() / "cache") {}

  fs::path only_entry() const {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(root / "code")) found = entry.path();
    return found;
  }
  Bytes read_entry() const { return *os::read_file(only_entry(), 1u << 30); }
  // Changes an entry as an attacker with access to the folder would.
  void overwrite_entry(const Bytes& bytes) const {
    std::ofstream(only_entry(), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  const Hash256 module = sha256(as_bytes("a module"));
  const Bytes native = {1, 2, 3, 4, 5};

 private:
  os::TempDir folder_;

 protected:
  const fs::path root;
};

TEST_F(CodeCacheTest, GivesBackWhatWasStored) {
  auto cache = CodeCache::open(root);
  ASSERT_TRUE(cache) << cache.error().detail;
  EXPECT_EQ(cache->find(module, CodeKind::start).error().kind, Kind::not_found);
  ASSERT_TRUE(cache->store(module, CodeKind::start, native));
  EXPECT_TRUE(std::ranges::equal(cache->find(module, CodeKind::start)->bytes(), native));
  EXPECT_TRUE(std::ranges::equal(CodeCache::open(root)->find(module, CodeKind::start)->bytes(), native));
  EXPECT_EQ(cache->find(sha256(as_bytes("another")), CodeKind::start).error().kind, Kind::not_found);
}

TEST_F(CodeCacheTest, LetsGoOfAnEntryThatCannotBeLoaded) {
  auto cache = CodeCache::open(root);
  ASSERT_TRUE(cache) << cache.error().detail;
  cache->drop(module, CodeKind::start);
  ASSERT_TRUE(cache->store(module, CodeKind::start, native));
  ASSERT_TRUE(cache->store(module, CodeKind::restore, native));
  cache->drop(module, CodeKind::start);
  EXPECT_EQ(cache->find(module, CodeKind::start).error().kind, Kind::not_found);
  EXPECT_TRUE(cache->find(module, CodeKind::restore));
}

TEST_F(CodeCacheTest, KeepsKeyAndEntriesPrivate) {
  ASSERT_TRUE(CodeCache::open(root)->store(module, CodeKind::start, native));
  auto mode = [](const fs::path& path) { return fs::status(path).permissions(); };
  EXPECT_EQ(mode(root / "code.key"), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(mode(root / "code"), fs::perms::owner_all);
  EXPECT_EQ(mode(only_entry()), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(CodeCacheTest, RefusesEveryChangedByte) {
  auto cache = CodeCache::open(root);
  ASSERT_TRUE(cache->store(module, CodeKind::start, native));
  Bytes good = read_entry();
  for (std::size_t i = 0; i < good.size(); i++) {
    Bytes bad = good;
    bad[i] ^= 0x10;
    overwrite_entry(bad);
    EXPECT_EQ(cache->find(module, CodeKind::start).error().kind, Kind::corrupt) << i;
  }
  overwrite_entry(Bytes(good.begin(), good.begin() + 20));
  EXPECT_EQ(cache->find(module, CodeKind::start).error().kind, Kind::corrupt);
  overwrite_entry(good);
  EXPECT_TRUE(cache->find(module, CodeKind::start));
}

TEST_F(CodeCacheTest, RefusesAnEntryOfAnotherModule) {
  auto cache = CodeCache::open(root);
  ASSERT_TRUE(cache->store(module, CodeKind::start, native));
  fs::path first = only_entry();
  Hash256 other = sha256(as_bytes("another"));
  fs::path kept = root / "kept";
  fs::rename(first, kept);
  ASSERT_TRUE(cache->store(other, CodeKind::start, native));
  fs::rename(only_entry(), first);  // authentic, under the wrong name
  EXPECT_EQ(cache->find(module, CodeKind::start).error().detail, "the entry is of another module, kind or engine");
}

TEST_F(CodeCacheTest, RefusesWhatOthersCanWriteOrPointTo) {
  auto cache = CodeCache::open(root);
  ASSERT_TRUE(cache->store(module, CodeKind::start, native));
  fs::permissions(only_entry(), fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(cache->find(module, CodeKind::start).error().kind, Kind::corrupt);
  fs::permissions(only_entry(), fs::perms::group_write, fs::perm_options::remove);
  fs::path entry = only_entry();
  fs::rename(entry, root / "elsewhere");
  fs::create_symlink(root / "elsewhere", entry);
  EXPECT_EQ(cache->find(module, CodeKind::start).error().kind, Kind::corrupt);
}

TEST_F(CodeCacheTest, RefusesAnEntryUnderAnotherKey) {
  ASSERT_TRUE(CodeCache::open(root)->store(module, CodeKind::start, native));
  fs::remove(root / "code.key");
  EXPECT_EQ(CodeCache::open(root)->find(module, CodeKind::start).error().kind, Kind::corrupt);
}

TEST_F(CodeCacheTest, KeepsTheKindsApart) {
  auto cache = CodeCache::open(root);
  ASSERT_TRUE(cache->store(module, CodeKind::start, native));
  EXPECT_EQ(cache->find(module, CodeKind::restore).error().kind, Kind::not_found);
  for (CodeKind kind : {CodeKind::start, CodeKind::restore}) EXPECT_EQ(parse_code_kind(name(kind)), kind);
  EXPECT_FALSE(parse_code_kind("both"));
}

}  // namespace
}  // namespace gw::isolate
