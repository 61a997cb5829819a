#pragma once
// Functions that the commands about jobs share.

#include <optional>
#include <string>

#include "cli/command_tree.h"
#include "cli/jobs/job_follower.h"
#include "gateway/client.h"

namespace gw::cli {

// The job that the word names: on the daemon of the client, or the ticket of a job on another machine, which the client uses from then on.
Result<job::JobId> find(gateway::Client& client, const std::string& word);
// The same of a job that may have a ticket; with the list of jobs in which it is.
struct FoundJob {
  job::JobId id;
  std::vector<node::JobSummary> jobs;
};
Result<FoundJob> find_in_list(gateway::Client& client, const std::string& word);

// Follows the job until its end, or until Ctrl-C, which detaches and says so: then there is no result.
Result<std::optional<node::JobEvent::Over>> follow_until_interrupted(const job::JobId& id, const JobFollower::Sinks& sinks,
                                                                     Invocation& invocation, const std::string& ticket = {});

void add_logs_commands(CommandTree& tree, Command& job);
void add_rerun_command(CommandTree& tree, Command& job);
void add_watch_command(CommandTree& tree, Command& job);
void add_explain_command(CommandTree& tree, Command& job);

}  // namespace gw::cli
