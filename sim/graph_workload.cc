#include "graph_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "fake_guest.h"
#include "wire/names.h"

namespace gw::sim {

void draw_graph(Rng& rng, std::vector<wire::pb::TaskRow>& rows, wire::pb::Manifest::TaskArray& array) {
  wire::pb::Manifest::TaskArray::Graph& graph = *array.mutable_graph();
  std::vector<std::uint32_t> first;  // task of each stage
  for (std::uint32_t task = 0; task < rows.size();) {
    const auto stage = static_cast<std::uint32_t>(first.size());
    const auto count =
        std::min<std::uint32_t>(1 + static_cast<std::uint32_t>(rng.below(4)), static_cast<std::uint32_t>(rows.size()) - task);
    std::set<std::uint32_t> before;
    for (std::uint64_t i = rng.below(4); i > 0 && stage > 0; --i) before.insert(static_cast<std::uint32_t>(rng.below(stage)));
    graph.add_names(fmt::format("stage-{}", stage));
    graph.add_counts(count);
    graph.add_files_are_read(rng.below(2) == 0);
    graph.add_before_counts(static_cast<std::uint32_t>(before.size()));
    for (const std::uint32_t earlier : before) graph.add_before(earlier);
    for (std::uint32_t i = 0; i < count; ++i) {
      wire::pb::TaskRow& row = rows[task + i];
      if (graph.files_are_read(static_cast<int>(stage))) row.add_outputs(std::string(kGuestOutput));
      for (const std::uint32_t earlier : before) {
        if (!graph.files_are_read(static_cast<int>(earlier)) || rng.below(3) == 0) continue;
        const auto from = first[earlier] + static_cast<std::uint32_t>(rng.below(graph.counts(static_cast<int>(earlier))));
        wire::pb::FromTask& file = *row.add_files_from();
        file.set_task(from);
        file.set_output(std::string(kGuestOutput));
        file.set_path(fmt::format("{}{}", kGuestInputs, from));
      }
    }
    first.push_back(task);
    task += count;
  }
}

wire::pb::TaskRow with_files(wire::pb::TaskRow row, const std::vector<std::string>& files) {
  for (const wire::pb::FromTask& from : row.files_from()) {
    const std::string& content = files[from.task()];
    wire::pb::InputEntry& entry = *row.add_inputs();
    entry.set_path(from.path());
    entry.set_size(content.size());
    entry.add_chunks(wire::bytes_of(sha256(as_bytes(content))));
  }
  row.clear_files_from();
  return row;
}

}  // namespace gw::sim
