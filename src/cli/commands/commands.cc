#include "cli/commands/commands.h"

namespace gw::cli {

void add_all_commands(CommandTree& tree) {
  add_run_command(tree);
  add_map_command(tree);
  add_resume_command(tree);
  add_build_command(tree);
  add_up_command(tree);
  add_down_command(tree);
  add_status_command(tree);
  add_share_command(tree);
  add_balance_command(tree);
  add_doctor_command(tree);
  add_metrics_command(tree);
  add_job_commands(tree);
  add_task_commands(tree);
  add_peer_commands(tree);
  add_devstack_command(tree);
  add_grid_commands(tree);
  add_tracker_command(tree);
  add_web_commands(tree);
  add_image_commands(tree);
  add_language_commands(tree);
  add_config_commands(tree);
  add_completion_command(tree);
  add_complete_command(tree);
  add_man_command(tree);
  add_unit_command(tree);
  add_version_command(tree);
}

}  // namespace gw::cli
