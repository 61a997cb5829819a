#pragma once
// Jobs and peers as tables.

#include <string>
#include <string_view>
#include <vector>

#include "cli/console/console.h"
#include "node/control.h"

namespace gw::cli {

std::string table_of(const std::vector<node::JobSummary>& jobs, node::WallTime now, const Terminal& terminal);
std::string table_of(const std::vector<node::PeerView>& peers, const Terminal& terminal);

// The jobs that hold slots of this machine.
std::string table_of(const std::vector<node::HostedJobView>& jobs, const job::PeerId& self, const Terminal& terminal);

// The job and its peers; also its threads if they are asked for.
enum class Threads : std::uint8_t { hidden, shown };
std::string text_of(const node::JobView& job, Threads threads, node::WallTime now, const Terminal& terminal);

// "2 cores, 4.0 GiB of memory, 50 % CPU"
std::string share_text(const node::Share& share);

// Why threads of the job wait, one line per reason; empty if none waits.
std::string waits_of(const node::JobView& job, const Terminal& terminal);

// The job whose id begins with these digits. Kind::not_found: none; Kind::invalid: several.
Result<job::JobId> find_job(std::string_view text, const std::vector<node::JobSummary>& jobs);

}  // namespace gw::cli
