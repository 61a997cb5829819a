// Saving and restoring.

#include <gtest/gtest.h>

#include "isolate/isolate.h"
#include "isolate/test/guests.h"

namespace gw::isolate {
namespace {

using test::World;
using Pages = SaveOptions::Pages;
using Track = SaveOptions::Track;

constexpr std::string_view kSum = "sum=6a4ae6e0\n";

class IsolateImage : public ::testing::Test {
 protected:
  std::unique_ptr<Isolate> restore(const wire::Image& image, std::span<const wire::Image> ancestors = {}) {
    std::vector<wire::BlobPack> packs;
    for (const wire::Image& ancestor : ancestors) packs.push_back(ancestor.pack());
    auto isolate = Isolate::restore(test::engine(), *world.thread, module, {image, packs}, Limits{}, world.host());
    EXPECT_TRUE(isolate) << isolate.error().detail;
    return *std::move(isolate);
  }
  // Suspended after so many turns of a million.
  std::unique_ptr<Isolate> make_suspended(std::uint32_t turns = 1000) {
    auto isolate = world.make(module, {.args = {"sum"}});
    EXPECT_EQ(describe(isolate->resume({.polls = turns})), "suspended");
    return isolate;
  }

  World world;
  std::shared_ptr<const Module> module = test::load(test::summing_guest(wire::Poll::counter));
};

TEST_F(IsolateImage, GoesOnFromAnImageInAnotherIsolate) {
  auto isolate = make_suspended();
  for (int moves = 0; moves < 20; moves++) {
    auto image = isolate->save();
    ASSERT_TRUE(image) << image.error().detail;
    auto decoded = wire::Image::decode(Bytes(image->encoded().begin(), image->encoded().end()));
    ASSERT_TRUE(decoded) << decoded.error().detail;
    isolate = restore(*decoded);
    ASSERT_EQ(describe(isolate->resume({.polls = 10'000})), "suspended");
  }
  EXPECT_EQ(describe(isolate->resume()), "exited with code 0");
  EXPECT_EQ(world.output.text(), kSum);
}

TEST_F(IsolateImage, HoldsWhatTheFormatSays) {
  auto isolate = make_suspended();
  auto image = isolate->save({.include_module = SaveOptions::IncludeModule::yes, .job_state = {7, 8}});
  ASSERT_TRUE(image);
  const wire::ImageContent& content = image->content();
  EXPECT_EQ(content.module_hash, module->hash());
  EXPECT_EQ(content.phase, wire::Phase::suspended);
  EXPECT_EQ(content.memory_pages, 2u);
  EXPECT_EQ(content.job_state, Bytes({7, 8}));
  EXPECT_EQ(content.globals.size(), 1u);
  EXPECT_TRUE(std::ranges::equal(content.module_wasm, module->wasm()));
  ASSERT_EQ(content.pages.size(), 1u);  // the second page was never touched
  EXPECT_EQ(content.pages[0].index, 0u);
}

TEST_F(IsolateImage, DoesNotDependOnHowOftenItWasSuspended) {
  auto seldom = make_suspended(200'000);
  auto often = make_suspended(10'000);
  for (int i = 1; i < 20; i++) {
    auto image = often->save();
    ASSERT_TRUE(image);
    often = restore(*image);
    ASSERT_EQ(describe(often->resume({.polls = 10'000})), "suspended");
  }
  EXPECT_EQ(seldom->save()->id(), often->save()->id());
}

TEST_F(IsolateImage, OfAFreshIsolateStartsFromTheBeginning) {
  auto image = world.make(module, {.args = {"sum"}})->save();
  ASSERT_TRUE(image) << image.error().detail;
  EXPECT_EQ(image->content().phase, wire::Phase::fresh);
  EXPECT_EQ(describe(restore(*image)->resume()), "exited with code 0");
  EXPECT_EQ(world.output.text(), kSum);
}

TEST_F(IsolateImage, CompressedGoesOnToo) {
  auto image = make_suspended()->save({.compression = SaveOptions::Compression::zstd});
  ASSERT_TRUE(image);
  EXPECT_LT(image->encoded().size(), 10'000u);
  EXPECT_EQ(describe(restore(*image)->resume()), "exited with code 0");
  EXPECT_EQ(world.output.text(), kSum);
}

TEST_F(IsolateImage, IncrementalsGoOnWithTheirAncestors) {
  auto isolate = make_suspended();
  std::vector<wire::Image> images;
  images.push_back(*isolate->save({.track = Track::yes}));
  for (int i = 0; i < 3; i++) {
    ASSERT_EQ(describe(isolate->resume({.polls = 10'000})), "suspended");
    auto image = isolate->save({.pages = Pages::changed, .track = Track::yes});
    ASSERT_TRUE(image) << image.error().detail;
    images.push_back(*image);
  }
  // Nothing has changed, so nothing is stored.
  auto same = isolate->save({.pages = Pages::changed, .track = Track::yes});
  ASSERT_TRUE(same);
  EXPECT_LT(same->encoded().size(), 1000u);
  EXPECT_EQ(same->content().nodes_elsewhere, same->nodes());
  EXPECT_FALSE(Isolate::restore(test::engine(), *world.thread, module, {*same}, Limits{}, world.host()));
  EXPECT_EQ(describe(restore(*same, images)->resume()), "exited with code 0");
  EXPECT_EQ(world.output.text(), kSum);
}

TEST_F(IsolateImage, ARestoredIsolateSavesOnlyWhatChangedSince) {
  auto isolate = make_suspended();
  const wire::Image first = *isolate->save();
  auto restored = Isolate::restore(test::engine(), *world.thread, module, {.image = first, .track = Track::yes}, Limits{}, world.host());
  ASSERT_TRUE(restored) << restored.error().detail;
  const auto same = (*restored)->save({.pages = Pages::changed, .track = Track::yes});
  ASSERT_TRUE(same) << same.error().detail;
  EXPECT_EQ(same->id(), first.id());
  EXPECT_LT(same->encoded().size(), 1000u);
  ASSERT_EQ(describe((*restored)->resume({.polls = 10'000})), "suspended");
  const auto changed = (*restored)->save({.pages = Pages::changed, .track = Track::yes});
  ASSERT_TRUE(changed);
  const std::vector<wire::Image> images{first, *changed};
  EXPECT_EQ(describe(restore(*changed, images)->resume()), "exited with code 0");
  EXPECT_EQ(world.output.text(), kSum);
}

TEST_F(IsolateImage, RefusesAnIncrementalWithoutATrackedSave) {
  auto isolate = make_suspended();
  EXPECT_FALSE(isolate->save({.pages = Pages::changed}));
  ASSERT_TRUE(isolate->save());
  EXPECT_FALSE(isolate->save({.pages = Pages::changed}));
}

TEST_F(IsolateImage, RefusesAnotherModule) {
  auto image = make_suspended()->save();
  auto other = test::load(test::summing_guest(wire::Poll::cell));
  auto isolate = Isolate::restore(test::engine(), *world.thread, other, {*image}, Limits{}, world.host());
  ASSERT_FALSE(isolate);
  EXPECT_EQ(isolate.error().kind, Kind::invalid);
}

TEST_F(IsolateImage, RefusesDamagedPages) {
  auto image = make_suspended()->save();
  Bytes bytes(image->encoded().begin(), image->encoded().end());
  bytes.back() ^= 1;
  auto decoded = wire::Image::decode(bytes);
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_FALSE(decoded->verify_pages());
  auto isolate = Isolate::restore(test::engine(), *world.thread, module, {*decoded}, Limits{}, world.host());
  ASSERT_FALSE(isolate);
  EXPECT_EQ(isolate.error().detail, "page 0 of the image has another hash than it should; use another copy");
}

// A well-formed image can still contain a state that its module cannot have.
TEST_F(IsolateImage, RefusesAStateTheModuleCannotHave) {
  auto honest = make_suspended()->save();
  ASSERT_TRUE(honest);
  auto refused = [&](auto change) {
    wire::ImageContent lie = honest->content();
    change(lie);
    auto image = wire::Image::encode(lie);
    EXPECT_TRUE(image) << image.error().detail;
    return !Isolate::restore(test::engine(), *world.thread, module, {*image}, Limits{}, world.host());
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& lie) { lie.globals.clear(); }));
  EXPECT_TRUE(refused([](auto& lie) { lie.globals[0].type = wire::ValueType::i64; }));
  EXPECT_TRUE(refused([](auto& lie) { lie.memory_pages = 1; }));
  EXPECT_TRUE(refused([](auto& lie) { lie.memory_pages = 60000; }));
  EXPECT_TRUE(refused([](auto& lie) { lie.wasi_state.pop_back(); }));
}

}  // namespace
}  // namespace gw::isolate
