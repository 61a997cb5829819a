#pragma once
// Random graphs of tasks, as manifests and rows have them.

#include <vector>

#include "base/rng.h"
#include "wire/peer.pb.h"

namespace gw::sim {

// Puts the tasks into stages of one to four, each behind up to three earlier ones; some tasks leave a file, and some read files of tasks
// before them.
void draw_graph(Rng& rng, std::vector<wire::pb::TaskRow>& rows, wire::pb::Manifest::TaskArray& array);

// The row as a host makes it: files of earlier tasks among its inputs. `files`: what each task has left, by number.
wire::pb::TaskRow with_files(wire::pb::TaskRow row, const std::vector<std::string>& files);

}  // namespace gw::sim
