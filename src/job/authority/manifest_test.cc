#include "job/authority/manifest.h"

#include <gtest/gtest.h>

#include <set>

#include "job/test/graphs.h"
#include "wire/messages/worker_frames.h"

namespace gw::job {
namespace {

// Of one task: no array.
wire::pb::Manifest content(std::uint32_t tasks) {
  wire::pb::Manifest manifest;
  manifest.mutable_module()->set_hash(std::string(32, 'm'));
  manifest.mutable_module()->set_size((1u << 20) + 1);
  manifest.mutable_module()->add_chunks(std::string(32, 'a'));
  manifest.mutable_module()->add_chunks(std::string(32, 'b'));
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  manifest.mutable_config()->add_args("prog");
  manifest.mutable_policy()->set_slots(2);
  manifest.mutable_config()->add_args("{}");
  manifest.mutable_config()->add_env("NAME=part {} of {}");
  if (tasks != 1) manifest.mutable_array()->set_count(tasks);
  return manifest;
}

TEST(Manifest, OfOneTaskIsTheMainThread) {
  const Manifest manifest = Manifest::check(Manifest::encode(content(1))).value();
  EXPECT_EQ(manifest.thread_of(0), kMainThread);
  EXPECT_EQ(manifest.config_of(0, nullptr)->args(1), "{}") << "only tasks of arrays have numbers";
}

TEST(Manifest, ChildrenHaveNoIdOfATask) {
  for (std::uint64_t sequence = 1; sequence < 1000; ++sequence)
    EXPECT_FALSE(task_of_thread(child_of(kMainThread, sequence), wire::kMaxTasks));
}

TEST(Manifest, OfAnArrayHasThreadsWithTheirOwnArgumentsAndSeeds) {
  const Manifest manifest = Manifest::check(Manifest::encode(content(60))).value();
  std::set<ThreadId> threads;
  std::set<std::string> seeds;
  for (std::uint32_t task = 0; task < 60; ++task) {
    threads.insert(manifest.thread_of(task));
    const wire::pb::ThreadConfig config = manifest.config_of(task, nullptr).value();
    seeds.insert(config.random_seed());
    EXPECT_EQ(config.args(0), "prog");
    EXPECT_EQ(config.args(1), std::to_string(task));
    EXPECT_EQ(config.env(0), fmt::format("NAME=part {0} of {0}", task));
    EXPECT_EQ(config.env(1), fmt::format("GODWIT_TASK={}", task));
    EXPECT_EQ(config.env(2), "GODWIT_TASKS=60");
    EXPECT_EQ(task_of_thread(manifest.thread_of(task), 60), task);
  }
  EXPECT_EQ(threads.size(), 60u);
  EXPECT_FALSE(threads.contains(kMainThread));
  EXPECT_EQ(seeds.size(), 60u);
}

TEST(Manifest, NamesThePiecesOfTheImageThatTheTaskBeginsWith) {
  const Bytes image((2u << 20) + 1, 'i');
  wire::pb::Manifest with_image = content(1);
  *with_image.mutable_image() = Manifest::describe(image);
  const Manifest manifest = Manifest::check(Manifest::encode(with_image)).value();
  ASSERT_NE(manifest.image(), nullptr);
  EXPECT_EQ(wire::hash_of(manifest.image()->hash()), sha256(image));
  EXPECT_EQ(manifest.image_chunks().size(), 3u);
  EXPECT_EQ(manifest.all_chunks().size(), 4u) << "the first two pieces are equal";
  EXPECT_EQ(Manifest::check(Manifest::encode(content(1))).value().image(), nullptr);
}

TEST(Manifest, OfAPlacementOutOfRangeIsRefused) {
  using Policy = wire::pb::Manifest::Policy;
  const auto refusal = [](auto change) {
    wire::pb::Manifest manifest = content(1);
    change(*manifest.mutable_policy());
    const auto checked = Manifest::check(Manifest::encode(manifest));
    return checked ? "" : checked.error().detail;
  };
  EXPECT_EQ(refusal([](Policy& policy) {
              policy.mutable_needs()->set_memory_bytes(2u << 30);
              policy.mutable_needs()->add_tags("gpu");
              policy.set_min_slots(2);
              policy.set_on_failure(Policy::CANCEL);
              policy.set_job_time_ns(600'000'000'000);
            }),
            "");
  EXPECT_NE(refusal([](Policy& policy) { policy.mutable_needs()->add_tags("a b"); }).find("tag"), std::string::npos);
  EXPECT_NE(refusal([](Policy& policy) { policy.mutable_needs()->set_disk_bytes(~0ull); }).find("disk"), std::string::npos);
  EXPECT_EQ(refusal([](Policy& policy) { policy.set_place(Policy::SPREAD); }), "");
  EXPECT_NE(refusal([](Policy& policy) { policy.set_place(static_cast<Policy::Placing>(3)); }).find("update godwit"), std::string::npos);
  EXPECT_NE(refusal([](Policy& policy) { policy.set_on_failure(static_cast<Policy::OnFailure>(9)); }).find("lost host"), std::string::npos);
  EXPECT_NE(refusal([](Policy& policy) { policy.set_min_slots(3); }).find("more slots"), std::string::npos);
  EXPECT_NE(refusal([](Policy& policy) { policy.set_job_time_ns(~0ull); }).find("13 days"), std::string::npos);
}

// Each host would put an image of 8 GiB together from 8,192 times the same MiB.
TEST(Manifest, OfAnImageThatItsLimitsDoNotAllowIsRefused) {
  wire::pb::Manifest manifest = content(1);
  wire::pb::Manifest::Module& image = *manifest.mutable_image();
  image.set_hash(std::string(32, 'i'));
  image.set_size(Manifest::kMaxImageBytes);
  for (int i = 0; i < 8192; ++i) image.add_chunks(std::string(32, 'c'));
  const auto refused = Manifest::check(Manifest::encode(manifest));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().detail.find("limits on memory and files"), std::string::npos) << refused.error().detail;
  manifest.mutable_policy()->mutable_limits()->set_memory_pages(65536);
  EXPECT_TRUE(Manifest::check(Manifest::encode(manifest)));
}

wire::pb::Manifest with_rows(const std::vector<std::uint32_t>& segments) {
  wire::pb::Manifest manifest = content(0);
  wire::pb::Manifest::TaskArray& array = *manifest.mutable_array();
  array.mutable_values()->set_has_rows(true);
  array.mutable_values()->add_columns("");
  for (const std::uint32_t rows : segments) {
    wire::pb::Manifest::TaskArray::Segment& segment = *array.add_segments();
    segment.set_hash(std::string(32, static_cast<char>('A' + array.segments_size())));
    segment.set_rows(rows);
    array.set_count(array.count() + rows);
  }
  return manifest;
}

TEST(Manifest, FindsTheSegmentOfATaskAndHoldsAllSegments) {
  const Manifest manifest = Manifest::check(Manifest::encode(with_rows({2, 1, 3}))).value();
  EXPECT_EQ(manifest.tasks(), 6u);
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected = {{0, 0}, {0, 1}, {1, 0}, {2, 0}, {2, 1}, {2, 2}};
  for (std::uint32_t task = 0; task < 6; ++task) {
    EXPECT_EQ(manifest.row_of(task).segment, expected[task].first);
    EXPECT_EQ(manifest.row_of(task).row, expected[task].second);
  }
  EXPECT_EQ(manifest.all_chunks().size(), 5u) << "two pieces of the module and three segments";
}

TEST(Manifest, OfRowsThatDoNotFitIsRefused) {
  EXPECT_TRUE(Manifest::check(Manifest::encode(with_rows({2, 2}))));
  wire::pb::Manifest manifest = with_rows({2, 2});
  manifest.mutable_array()->set_count(5);
  EXPECT_FALSE(Manifest::check(Manifest::encode(manifest))) << "a task without a row";
  manifest = with_rows({2, 2});
  manifest.mutable_array()->mutable_segments(1)->set_rows(0xFFFF'FFFF);
  EXPECT_FALSE(Manifest::check(Manifest::encode(manifest))) << "the sum does not wrap around";
  EXPECT_TRUE(Manifest::check(Manifest::encode(with_rows({16384, 1}))));
  EXPECT_FALSE(Manifest::check(Manifest::encode(with_rows({16385}))));
  manifest = with_rows({2, 2});
  manifest.mutable_array()->mutable_values()->set_has_rows(false);
  EXPECT_FALSE(Manifest::check(Manifest::encode(manifest)));
  manifest = with_rows({2});
  manifest.mutable_config()->add_args("{other}");
  EXPECT_FALSE(Manifest::check(Manifest::encode(manifest))) << "a placeholder that no row fills";
  manifest = with_rows({2});
  manifest.mutable_config()->add_outputs("file");
  EXPECT_FALSE(Manifest::check(Manifest::encode(manifest))) << "all tasks would write the same file";
  manifest = with_rows({2});
  manifest.mutable_array()->mutable_segments(0)->set_hash("short");
  EXPECT_FALSE(Manifest::check(Manifest::encode(manifest)));
}

TEST(Manifest, HomeHoldsTheInputsThatRowsName) {
  const Manifest manifest = Manifest::check(Manifest::encode(with_rows({2}))).value();
  EXPECT_EQ(blobs_of_job(manifest, "").value().size(), 3u);
  EXPECT_EQ(blobs_of_job(manifest, std::string(32, 'x') + std::string(32, 'y') + std::string(32, 'x')).value().size(), 5u);
  EXPECT_FALSE(blobs_of_job(manifest, "short"));
  EXPECT_FALSE(blobs_of_job(manifest, std::string(32 * (wire::kMaxRowInputs + 1), 'x')));
  EXPECT_FALSE(blobs_of_job(Manifest::check(Manifest::encode(content(2))).value(), std::string(32, 'x'))) << "no rows";
}

TEST(Manifest, TheFileThatIsTheStandardInputOfAllTasksIsAnInput) {
  wire::pb::Manifest described = content(2);
  wire::pb::InputEntry& input = *described.mutable_config()->mutable_standard_input();
  input.set_path("stdin");
  input.set_size((1u << 20) + 5);
  input.add_chunks(std::string(32, 'x'));
  input.add_chunks(std::string(32, 'y'));
  const Manifest manifest = Manifest::check(Manifest::encode(described)).value();
  const std::map<Hash256, std::uint32_t> expected = {{wire::hash_of(std::string(32, 'x')), 1u << 20},
                                                     {wire::hash_of(std::string(32, 'y')), 5u}};
  EXPECT_EQ(manifest.input_chunks(), expected);
  EXPECT_EQ(blobs_of_job(manifest, "").value().size(), 4u) << "with the two of the module";
}

TEST(Manifest, OfAGraphIsOfTheTaskPlane) {
  wire::pb::Manifest graph = test::manifest_of_graph(test::diamond());
  EXPECT_EQ(Manifest::check(Manifest::encode(graph))->graph()->stages(), 4u);
  graph.mutable_array()->set_count(7);
  EXPECT_FALSE(Manifest::check(Manifest::encode(graph)));
  graph = test::manifest_of_graph(test::diamond());
  graph.mutable_policy()->set_promote_after_ns(0);
  EXPECT_FALSE(Manifest::check(Manifest::encode(graph)));
  EXPECT_FALSE(Manifest::check(Manifest::encode(test::manifest_of_graph({{"alone"}}))));
}

TEST(Manifest, SaysWhatIsWrong) {
  const auto refusal = [](const wire::pb::Manifest& manifest) { return Manifest::check(Manifest::encode(manifest)).error().detail; };
  wire::pb::Manifest manifest = content(0);
  EXPECT_NE(refusal(manifest).find("tasks"), std::string::npos);
  manifest = content(1);
  manifest.mutable_module()->mutable_chunks()->RemoveLast();
  EXPECT_NE(refusal(manifest).find("each MiB"), std::string::npos);
  manifest = content(2);
  *manifest.mutable_image() = Manifest::describe(as_bytes("image"));
  EXPECT_NE(refusal(manifest).find("an image is one task's"), std::string::npos);
  manifest = content(1);
  *manifest.mutable_image() = Manifest::describe(as_bytes("image"));
  manifest.mutable_image()->set_size(Manifest::kMaxImageBytes + 1);
  EXPECT_NE(refusal(manifest).find("8 GiB"), std::string::npos);
  manifest = content(1);
  manifest.mutable_policy()->clear_slots();
  EXPECT_NE(refusal(manifest).find("slots"), std::string::npos);
}

}  // namespace
}  // namespace gw::job
