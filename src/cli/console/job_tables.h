#pragma once
// Jobs and peers as tables.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console/console.h"
#include "node/control.h"

namespace gw::cli {

// "lab-3 (1b9e4c0f)": a peer by the name of its machine, if that is known, and the first digits of its id.
std::string peer_text(const std::string& name, const job::PeerId& id);

// "speed 0.93, 2.9 GiB of memory for each slot, ..."
std::string capacity_text(const job::Capacity& capacity);

std::string table_of(const std::vector<node::JobSummary>& jobs, node::WallTime now, const Terminal& terminal);
std::string table_of(const std::vector<node::PeerView>& peers, const Terminal& terminal);

// The jobs that hold slots of this machine.
std::string table_of(const std::vector<node::HostedJobView>& jobs, const job::PeerId& self, node::WallTime now, const Terminal& terminal);

// The job and its peers; also its threads if they are asked for.
enum class Threads : std::uint8_t { hidden, shown };
std::string text_of(const node::JobView& job, Threads threads, node::WallTime now, const Terminal& terminal);

// "2 cores, 4.0 GiB of memory, 50 % CPU"
std::string share_text(const node::Share& share);
// To whom and when a machine lends, and why not now.
std::string lending_text(const node::NodeView& node);

// Why threads of the job wait, one line per reason; empty if none waits.
std::string waits_of(const node::JobView& job, const Terminal& terminal);

// The sentence of the reason, with what is particular to this case.
std::string sentence_of(const Explanation& why);

// Live peers that do not work for a job that waits, and why; empty if there are none.
using PeerText = std::function<std::string(const job::PeerId&)>;
std::string absent_of(const node::JobView& job, const PeerText& peer_text, const Terminal& terminal);

}  // namespace gw::cli
