#pragma once
// Manifests of graphs.

#include <string>
#include <vector>

#include "job/authority/manifest.h"

namespace gw::job::test {

struct TestStage {
  std::string name;
  std::uint32_t tasks = 1;
  std::vector<std::uint32_t> before = {};
  bool files_are_read = false;
};

inline wire::pb::Manifest::TaskArray::Graph graph_of(const std::vector<TestStage>& stages) {
  wire::pb::Manifest::TaskArray::Graph graph;
  for (const TestStage& stage : stages) {
    graph.add_names(stage.name);
    graph.add_counts(stage.tasks);
    graph.add_files_are_read(stage.files_are_read);
    graph.add_before_counts(static_cast<std::uint32_t>(stage.before.size()));
    for (const std::uint32_t before : stage.before) graph.add_before(before);
  }
  return graph;
}

inline std::uint32_t tasks_in(const std::vector<TestStage>& stages) {
  std::uint32_t tasks = 0;
  for (const TestStage& stage : stages) tasks += stage.tasks;
  return tasks;
}

inline wire::pb::Manifest manifest_of_graph(const std::vector<TestStage>& stages) {
  wire::pb::Manifest manifest;
  manifest.mutable_module()->set_hash(std::string(32, 'm'));
  manifest.mutable_module()->set_size(1);
  manifest.mutable_module()->add_chunks(std::string(32, 'm'));
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  manifest.mutable_policy()->set_slots(4);
  manifest.mutable_policy()->set_max_failures(2);
  manifest.mutable_policy()->set_promote_after_ns(1'000'000'000);
  manifest.mutable_array()->set_count(tasks_in(stages));
  *manifest.mutable_array()->mutable_graph() = graph_of(stages);
  return manifest;
}

// prepare, then two branches of which one has three tasks, then report.
inline std::vector<TestStage> diamond() { return {{"prepare"}, {"left", 3, {0}}, {"right", 1, {0}}, {"report", 1, {1, 2}}}; }

}  // namespace gw::job::test
