#include "isolate/code_cache.h"

#include <gtest/gtest.h>

#include <fstream>

#include "isolate/test/guests.h"
#include "os/file.h"
#include "os/process.h"

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
  // As an attacker with access to the folder would.
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
  EXPECT_EQ(cache->find(module).error().kind, Kind::not_found);
  ASSERT_TRUE(cache->store(module, native));
  EXPECT_TRUE(std::ranges::equal(cache->find(module)->code(), native));
  EXPECT_TRUE(std::ranges::equal(CodeCache::open(root)->find(module)->code(), native));
  EXPECT_EQ(cache->find(sha256(as_bytes("another"))).error().kind, Kind::not_found);
}

TEST_F(CodeCacheTest, KeepsKeyAndEntriesPrivate) {
  ASSERT_TRUE(CodeCache::open(root)->store(module, native));
  auto mode = [](const fs::path& path) { return fs::status(path).permissions(); };
  EXPECT_EQ(mode(root / "code.key"), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(mode(root / "code"), fs::perms::owner_all);
  EXPECT_EQ(mode(only_entry()), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(CodeCacheTest, RefusesEveryChangedByte) {
  auto cache = CodeCache::open(root);
  ASSERT_TRUE(cache->store(module, native));
  Bytes good = read_entry();
  for (std::size_t i = 0; i < good.size(); i++) {
    Bytes bad = good;
    bad[i] ^= 0x10;
    overwrite_entry(bad);
    EXPECT_EQ(cache->find(module).error().kind, Kind::corrupt) << i;
  }
  overwrite_entry(Bytes(good.begin(), good.begin() + 20));
  EXPECT_EQ(cache->find(module).error().kind, Kind::corrupt);
  overwrite_entry(good);
  EXPECT_TRUE(cache->find(module));
}

TEST_F(CodeCacheTest, RefusesAnEntryOfAnotherModule) {
  auto cache = CodeCache::open(root);
  ASSERT_TRUE(cache->store(module, native));
  fs::path first = only_entry();
  Hash256 other = sha256(as_bytes("another"));
  fs::path kept = root / "kept";
  fs::rename(first, kept);
  ASSERT_TRUE(cache->store(other, native));
  fs::rename(only_entry(), first);  // authentic, under the wrong name
  EXPECT_EQ(cache->find(module).error().detail, "the entry is of another module or engine");
}

TEST_F(CodeCacheTest, RefusesWhatOthersCanWriteOrPointTo) {
  auto cache = CodeCache::open(root);
  ASSERT_TRUE(cache->store(module, native));
  fs::permissions(only_entry(), fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(cache->find(module).error().kind, Kind::corrupt);
  fs::permissions(only_entry(), fs::perms::group_write, fs::perm_options::remove);
  fs::path entry = only_entry();
  fs::rename(entry, root / "elsewhere");
  fs::create_symlink(root / "elsewhere", entry);
  EXPECT_EQ(cache->find(module).error().kind, Kind::corrupt);
}

TEST_F(CodeCacheTest, RefusesAnEntryUnderAnotherKey) {
  ASSERT_TRUE(CodeCache::open(root)->store(module, native));
  fs::remove(root / "code.key");
  EXPECT_EQ(CodeCache::open(root)->find(module).error().kind, Kind::corrupt);
}

TEST_F(CodeCacheTest, IsFilledByTheCompileOnlyProcessAndRunsFromThere) {
  Bytes wasm = test::summing_guest(wire::Poll::cell);
  auto engine = Engine::make({.cache_root = root, .compiler = {GW_TEST_COMPILER}});
  ASSERT_TRUE(engine) << engine.error().detail;
  auto module = (*engine)->load(wasm);
  ASSERT_TRUE(module) << module.error().detail;
  EXPECT_GT(read_entry().size(), 1000u);
  test::World world;
  EXPECT_EQ(describe(world.make(*module, {.args = {"sum"}})->resume()), "exited with code 0");
  EXPECT_EQ(world.output.text(), "sum=6a4ae6e0\n");
}

TEST_F(CodeCacheTest, CodeLoadsIntoAProcessThatDidNotCompileIt) {
  Bytes wasm = test::summing_guest(wire::Poll::counter);
  auto compiled = os::run_process({.argv = {GW_TEST_COMPILER, root.string()}, .stdin_bytes = wasm});
  ASSERT_TRUE(compiled && compiled->succeeded()) << compiled->err;
  auto native_code = CodeCache::open(root)->find(sha256(wasm));
  ASSERT_TRUE(native_code) << native_code.error().detail;
  test::World world;
  auto code = world.thread->call([&] { return world.thread->heap().load(wasm, native_code->code()); });
  EXPECT_TRUE(code) << code.error().detail;
  Bytes other_engine(native_code->code().begin(), native_code->code().end());
  other_engine[5] ^= 1;
  EXPECT_FALSE(world.thread->call([&] { return world.thread->heap().load(wasm, other_engine); }));
}

TEST_F(CodeCacheTest, ADamagedEntryMeansCompilingAgain) {
  Bytes wasm = test::summing_guest(wire::Poll::cell);
  auto engine = Engine::make({.cache_root = root, .compiler = {GW_TEST_COMPILER}});
  ASSERT_TRUE((*engine)->load(wasm));
  Bytes entry = read_entry();
  Bytes damaged = entry;
  damaged[damaged.size() / 2] ^= 1;
  overwrite_entry(damaged);
  EXPECT_TRUE((*engine)->load(wasm));
  EXPECT_NE(read_entry(), damaged);
}

TEST_F(CodeCacheTest, ACompilerThatFailsMeansCompilingHere) {
  auto engine = Engine::make({.cache_root = root, .compiler = {"false"}});
  ASSERT_TRUE(engine);
  EXPECT_TRUE((*engine)->load(test::summing_guest(wire::Poll::cell)));
}

TEST_F(CodeCacheTest, TheCompileOnlyProcessRefusesWhatIsNoGuest) {
  auto result = os::run_process({.argv = {GW_TEST_COMPILER, root.string()}, .stdin_bytes = {1, 2, 3}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 2);
  EXPECT_FALSE(fs::exists(root));
}

}  // namespace
}  // namespace gw::isolate
