#include <fmt/core.h>

#include <charconv>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/console/job_tables.h"
#include "cli/console/quantity.h"
#include "gateway/client.h"
#include "gateway/view_json.h"

namespace gw::cli {
namespace {

struct ShareOptions {
  std::optional<std::uint32_t> cores;
  std::string memory;
  std::string cpu;
  std::optional<std::uint32_t> slots_per_peer;
  std::optional<std::uint32_t> jobs_per_peer;
  std::string disk, disk_per_peer, disk_per_job, disk_per_grid;
};

Result<std::uint32_t> parse_percent(std::string_view text) {
  std::uint32_t percent = 0;
  const std::string_view digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : "";
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return fail(Kind::invalid, "'{}' is not a percentage: write it like 50%", text);
  return percent;
}

Result<int> share(const ShareOptions& options, Invocation& invocation) {
  node::ShareChange change{.cores = options.cores};
  change.slots_per_peer = options.slots_per_peer;
  change.jobs_per_peer = options.jobs_per_peer;
  if (!options.memory.empty()) {
    GW_TRY(change.memory_bytes, parse_bytes(options.memory));
  }
  if (!options.cpu.empty()) {
    GW_TRY(change.cpu_percent, parse_percent(options.cpu));
  }
  for (const auto& [text, bytes] :
       {std::pair(&options.disk, &change.disk_bytes), std::pair(&options.disk_per_peer, &change.disk_bytes_per_peer),
        std::pair(&options.disk_per_job, &change.disk_bytes_per_job), std::pair(&options.disk_per_grid, &change.disk_bytes_per_grid)})
    if (!text->empty()) {
      GW_TRY(*bytes, parse_bytes(*text));
    }
  gateway::Client client(invocation.settings.socket());
  GW_TRY(const node::Share now, client.share(change));
  invocation.console.print({"godwit.share/1", gateway::to_json(now), share_text(now) + "\n", std::to_string(now.cores)});
  return 0;
}

}  // namespace

std::string share_text(const node::Share& share) {
  std::string text =
      fmt::format("{}, {}, {} % CPU", counted(share.cores, "core"),
                  share.memory_bytes == 0 ? "no memory limit" : human_bytes(share.memory_bytes) + " of memory", share.cpu_percent);
  if (share.slots_per_peer > 0) text += fmt::format(", at most {} for one peer", counted(share.slots_per_peer, "slot"));
  if (share.jobs_per_peer > 0) text += fmt::format(", at most {} of one peer", counted(share.jobs_per_peer, "job"));
  const job::Budget::Limits disk = node::budget_of(share);
  text += fmt::format(", {} of disk for other peers ({} for one grid, {} for one peer, {} for one job)", human_bytes(disk.all.bytes),
                      human_bytes(disk.grid.bytes), human_bytes(disk.origin.bytes), human_bytes(disk.job.bytes));
  return text;
}

void add_share_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "share",
      {.summary = "Show or change what this machine lends",
       .details =
           "Without options, prints the current share. A change takes effect at once and is kept across restarts. Each job gets memory "
           "and CPU time in proportion to its slots. Threads that no longer fit continue on other peers from their last image. "
           "--cores 0 lends nothing; jobs of this machine then run on other machines.",
       .examples = {"godwit share", "godwit share --cores 2 --memory 4G --cpu 50%", "godwit share --slots-per-peer 1",
                    "godwit share --cores 0"}});
  auto options = std::make_shared<ShareOptions>();
  command.add_number("--cores", options->cores, "Number of slots: threads that may run at once", "N");
  command.add_option("--memory", options->memory, "Maximum memory of all workers together; 0: no limit", "SIZE");
  command.add_option("--cpu", options->cpu, "Maximum CPU use of each shared core, in percent", "PERCENT");
  command.add_number("--slots-per-peer", options->slots_per_peer, "Maximum slots for the jobs of one other peer; 0: no limit", "N");
  command.add_number("--jobs-per-peer", options->jobs_per_peer, "Maximum jobs of one other peer at a time; 0: no limit", "N");
  command.add_option("--disk", options->disk, "Maximum disk space for code, inputs and images of other peers' jobs; 0: 64G", "SIZE");
  command.add_option("--disk-per-peer", options->disk_per_peer, "Of that, for the jobs of one other peer; 0: half", "SIZE");
  command.add_option("--disk-per-job", options->disk_per_job, "Of that, for one job; 0: a quarter", "SIZE");
  command.add_option("--disk-per-grid", options->disk_per_grid, "Of that, for the jobs of one grid; 0: three quarters", "SIZE");
  tree.add_setting(command, Key::socket);
  tree.add_setting(command, Key::state);
  command.on_selected([options](Invocation& invocation) { return share(*options, invocation); });
}

}  // namespace gw::cli
