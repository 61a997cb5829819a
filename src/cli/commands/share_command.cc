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
};

Result<std::uint32_t> parse_percent(std::string_view text) {
  std::uint32_t percent = 0;
  const std::string_view digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : "";
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return fail(Kind::invalid, "'{}' is no part of the CPU: write it as 50%", text);
  return percent;
}

Result<int> share(const ShareOptions& options, Invocation& invocation) {
  node::ShareChange change{.cores = options.cores};
  if (!options.memory.empty()) {
    GW_TRY(change.memory_bytes, parse_bytes(options.memory));
  }
  if (!options.cpu.empty()) {
    GW_TRY(change.cpu_percent, parse_percent(options.cpu));
  }
  gateway::Client client(invocation.settings.socket());
  GW_TRY(const node::Share now, client.share(change));
  invocation.console.print({"godwit.share/1", gateway::to_json(now), share_text(now) + "\n", std::to_string(now.cores)});
  return 0;
}

}  // namespace

std::string share_text(const node::Share& share) {
  return fmt::format("{}, {}, {} % of their time", counted(share.cores, "core"),
                     share.memory_bytes == 0 ? "memory without a limit of its own" : human_bytes(share.memory_bytes) + " of memory",
                     share.cpu_percent);
}

void add_share_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "share",
      {.summary = "Say what this machine lends to jobs, or show it",
       .details = "The daemon stores it and holds to it from then on, also after a restart. Each worker gets a part of memory and time as "
                  "large as its part of the slots. What does not fit any more is not ended: it goes on at other peers from its last image. "
                  "--cores 0 lends nothing; jobs of this machine then run on others.",
       .examples = {"godwit share", "godwit share --cores 2 --memory 4G --cpu 50%", "godwit share --cores 0"}});
  auto options = std::make_shared<ShareOptions>();
  command.add_number("--cores", options->cores, "So many threads of jobs at once", "N");
  command.add_option("--memory", options->memory, "So much memory for all of them together; 0: no limit", "SIZE");
  command.add_option("--cpu", options->cpu, "So much of the time of these cores", "PERCENT");
  tree.add_setting(command, Key::socket);
  tree.add_setting(command, Key::state);
  command.on_selected([options](Invocation& invocation) { return share(*options, invocation); });
}

}  // namespace gw::cli
