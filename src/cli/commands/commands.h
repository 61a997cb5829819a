#pragma once
// The commands of `godwit`. Each function adds a command with its options and action to the tree.

#include "cli/command_tree.h"

namespace gw::cli {

void add_all_commands(CommandTree& tree);

void add_run_command(CommandTree& tree);
void add_map_command(CommandTree& tree);
void add_resume_command(CommandTree& tree);
void add_build_command(CommandTree& tree);
void add_up_command(CommandTree& tree);
void add_down_command(CommandTree& tree);
void add_status_command(CommandTree& tree);
void add_share_command(CommandTree& tree);
void add_balance_command(CommandTree& tree);
void add_doctor_command(CommandTree& tree);
void add_metrics_command(CommandTree& tree);
void add_devstack_command(CommandTree& tree);
void add_job_commands(CommandTree& tree);
void add_task_commands(CommandTree& tree);
void add_peer_commands(CommandTree& tree);
void add_grid_commands(CommandTree& tree);
void add_tracker_command(CommandTree& tree);
void add_web_commands(CommandTree& tree);
void add_image_commands(CommandTree& tree);
void add_image_output_command(CommandTree& tree, Command& parent);
void add_language_commands(CommandTree& tree);
void add_config_commands(CommandTree& tree);
void add_completion_command(CommandTree& tree);
void add_complete_command(CommandTree& tree);
void add_unit_command(CommandTree& tree);
void add_man_command(CommandTree& tree);
void add_version_command(CommandTree& tree);

}  // namespace gw::cli
