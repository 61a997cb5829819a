// Input and output files of a whole isolate.

#include <gtest/gtest.h>

#include "isolate/isolate.h"
#include "isolate/test/guests.h"

namespace gw::isolate {
namespace {

using test::World;

// Copies the file "in" to "out/copy" and puts a link beside it. As a guest that cannot park, and as one that can before its read.
constexpr std::string_view kFileImports = R"(
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_symlink" (func $path_symlink (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32))))";

constexpr std::string_view kBody = R"(
  (func (export "_start")
    (if (i32.eqz (global.get $rewinding)) (then
      (drop (call $path_open (i32.const 3) (i32.const 0) (i32.const 200) (i32.const 2) (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0)
        (i32.const 64)))))
    (global.set $rewinding (i32.const 0))
    (i32.store (i32.const 72) (i32.const 8192))
    (i32.store (i32.const 76) (i32.const 50000))
    (drop (call $fd_read (i32.load (i32.const 64)) (i32.const 72) (i32.const 1) (i32.const 76)))
    (if (global.get $unwinding) (then (return)))
    (drop (call $path_open (i32.const 3) (i32.const 0) (i32.const 208) (i32.const 8) (i32.const 1) (i64.const 64) (i64.const 0) (i32.const 0)
      (i32.const 64)))
    (drop (call $fd_write (i32.load (i32.const 64)) (i32.const 72) (i32.const 1) (i32.const 80)))
    (drop (call $path_symlink (i32.const 200) (i32.const 2) (i32.const 3) (i32.const 224) (i32.const 8))))
  (data (i32.const 200) "in")
  (data (i32.const 208) "out/copy")
  (data (i32.const 224) "out/link"))";

Bytes plain() {
  constexpr std::string_view kGlobals = R"(
    (memory (export "memory") 1) (global $unwinding (mut i32) (i32.const 0)) (global $rewinding (mut i32) (i32.const 0)))";
  return test::plain_guest(fmt::format("{} {} {}", kFileImports, kGlobals, kBody));
}

// Gives a chunk when it is asked for the second time.
class SlowChunks final : public ChunkSource {
 public:
  explicit SlowChunks(std::string_view content) : content_(std::make_shared<const Bytes>(content.begin(), content.end())) {}

  Result<std::optional<std::shared_ptr<const Bytes>>> chunk(const Hash256& hash) override {
    if (asked++ == 0) return std::optional<std::shared_ptr<const Bytes>>();
    if (hash != sha256(*content_)) return fail(Kind::not_found, "there is no such chunk");
    return std::optional(content_);
  }
  void wait(std::chrono::milliseconds) override { waits++; }

  int asked = 0, waits = 0;

 private:
  std::shared_ptr<const Bytes> content_;
};

class IsolateFiles : public ::testing::Test {
 protected:
  IsolateHost host() {
    IsolateHost host = world.host();
    return {host.input, host.output, host.errors, host.clock, host.determinants, chunks};
  }
  std::unique_ptr<Isolate> make(Bytes wasm) {
    IsolateConfig config{.args = {"copy"}, .outputs = {"out/", "out/copy", "missing"}};
    config.inputs = {{.path = "in", .size = text.size(), .mtime_ns = 5, .chunks = {sha256(as_bytes(text))}}};
    module = test::load(std::move(wasm));
    auto isolate = Isolate::make(test::engine(), *world.thread, module, std::move(config), host());
    EXPECT_TRUE(isolate) << isolate.error().detail;
    return *std::move(isolate);
  }
  static std::vector<std::string> outputs(Isolate& isolate) {
    std::vector<std::string> list;
    OutputWalk walk = isolate.outputs();
    for (;;) {
      auto piece = walk.next();
      EXPECT_TRUE(piece);
      if (!piece || !*piece) return list;
      list.push_back(fmt::format("{} {} {} {} {}", (*piece)->path, static_cast<int>((*piece)->type), (*piece)->offset,
                                 as_text((*piece)->bytes), (*piece)->last));
    }
  }

  const std::string text = "what is in the file";
  const std::vector<std::string> copied = {"out 1 0  true", "out/copy 0 0 what is in the file true", "out/link 2 0 in true"};
  World world;
  SlowChunks chunks{text};
  std::shared_ptr<const Module> module;
};

TEST_F(IsolateFiles, WaitInPlaceForAGuestThatCannotPark) {
  auto isolate = make(plain());
  EXPECT_EQ(describe(isolate->resume()), "exited with code 0");
  EXPECT_EQ(outputs(*isolate), copied);
  EXPECT_EQ(chunks.waits, 1);
}

TEST_F(IsolateFiles, MoveWhileAPartOfAnInputIsAwaited) {
  auto isolate = make(test::mobile_guest(kFileImports, kBody));
  EXPECT_EQ(describe(isolate->resume()), "parked until a part of an input file is there");
  auto image = isolate->save();
  ASSERT_TRUE(image) << image.error().detail;
  EXPECT_EQ(image->content().file_pages, 0u);  // input files are not in it
  auto elsewhere = Isolate::restore(test::engine(), *world.thread, module, {*image}, Limits{}, host());
  ASSERT_TRUE(elsewhere) << elsewhere.error().detail;
  EXPECT_EQ(describe((*elsewhere)->resume()), "exited with code 0");
  EXPECT_EQ(outputs(**elsewhere), copied);
}

TEST_F(IsolateFiles, RefuseAnImageLargerThanTheLimit) {
  auto isolate = make(test::mobile_guest(kFileImports, kBody));
  (void)isolate->resume();
  auto image = isolate->save();
  ASSERT_TRUE(image);
  wire::ImageContent content = image->content();
  auto state = decode_wasi_state(content.wasi_state);
  ASSERT_TRUE(state);
  Inode large = *state->files.make(FileTree::kRoot, "large", FileContent{});
  ASSERT_EQ(state->files.resize(large, 3 * wire::kPageBytes), Errno::success);
  content.wasi_state = encode(*state);
  content.file_pages = 3;
  auto larger = wire::Image::encode(content);
  ASSERT_TRUE(larger);
  auto restored = Isolate::restore(test::engine(), *world.thread, module, {*larger}, Limits{.file_bytes = 2 * wire::kPageBytes}, host());
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().kind, Kind::overloaded);
}

}  // namespace
}  // namespace gw::isolate
