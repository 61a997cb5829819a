#pragma once
// The files that a task has left, as inputs of other tasks; docs/design/020-graphs.md.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "wire/worker.pb.h"

namespace gw::job {

// Adds a piece to a list: the pieces of each file in their order, each a MiB but the last one. `bytes`: of the piece, and their hash.
void add_to_list(const wire::pb::Effect::OutputFile& piece, std::uint64_t bytes, const std::optional<Hash256>& hash,
                 wire::pb::TaskFileList& list);

// The file or folder that `from` names, under the path that it gives it. Kind::invalid: the task has not left it.
Result<std::vector<wire::pb::InputEntry>> entries_of(const wire::pb::FromTask& from, const wire::pb::TaskFileList& list);

}  // namespace gw::job
