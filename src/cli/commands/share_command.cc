#include <fmt/format.h>

#include <charconv>
#include <map>
#include <memory>
#include <set>

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
  std::optional<std::uint32_t> nice;
  std::string bandwidth;
  std::optional<std::uint32_t> slots_per_peer;
  std::optional<std::uint32_t> jobs_per_peer;
  std::string disk, disk_per_peer, disk_per_job, disk_per_grid, cache;
  std::vector<std::string> audience;
  std::vector<std::string> when;
  std::string idle_after;
  std::vector<std::string> allow, block, unlist, weights, tag, untag;
  std::string stranger_memory, stranger_cpu, stranger_disk;
  std::optional<std::uint64_t> stranger_threads;
};

Result<std::uint32_t> parse_percent(std::string_view text) {
  std::uint32_t percent = 0;
  const std::string_view digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : "";
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return fail(Kind::invalid, "'{}' is not a percentage: write it like 50%", text);
  return percent;
}

// A user or peer by its name of 64 digits, or by the first digits of one that this daemon knows.
Result<job::ConsumerName> find_consumer(const std::string& text, gateway::Client& client) {
  constexpr std::size_t kFewest = 4;
  if (auto whole = parse_hash(text)) return *whole;
  std::set<job::ConsumerName> known;
  GW_TRY(const auto peers, client.peers());
  for (const node::PeerView& peer : peers) known.insert(peer.id.hash);
  GW_TRY(const auto hosted, client.hosted());
  for (const node::HostedJobView& job : hosted) known.insert({job.owner, job.home.hash});
  std::erase_if(known, [&](const job::ConsumerName& name) { return text.size() < kFewest || !name.hex().starts_with(text); });
  if (known.size() == 1) return *known.begin();
  return fail(Kind::invalid,
              "'{}' {}: give the key of a user or the id of a peer, as 'godwit job list --hosted' and 'godwit peer list' show", text,
              known.empty() ? "is no user or peer that this machine knows" : "is the beginning of several names");
}

Result<std::vector<job::ConsumerName>> find_consumers(const std::vector<std::string>& texts, gateway::Client& client) {
  std::vector<job::ConsumerName> names;
  for (const std::string& text : texts) {
    GW_TRY(const job::ConsumerName name, find_consumer(text, client));
    names.push_back(name);
  }
  return names;
}

// KEY=2
Result<std::map<job::ConsumerName, std::uint32_t>> parse_weights(const std::vector<std::string>& texts, gateway::Client& client) {
  std::map<job::ConsumerName, std::uint32_t> weights;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    std::uint32_t weight = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + std::min(equals, text.size() - 1) + 1, end, weight);
    if (equals == std::string::npos || read.ec != std::errc() || read.ptr != end)
      return fail(Kind::invalid, "'{}' is not a weight: write it like USER=2", text);
    GW_TRY(const job::ConsumerName name, find_consumer(text.substr(0, equals), client));
    weights[name] = weight;
  }
  return weights;
}

Status read_rules(const ShareOptions& options, gateway::Client& client, node::ShareChange& change) {
  if (!options.audience.empty()) change.audience = fmt::format("{}", fmt::join(options.audience, ","));
  if (!options.when.empty()) change.when = fmt::format("{}", fmt::join(options.when, ","));
  if (!options.idle_after.empty()) {
    GW_TRY(const auto time, parse_duration(options.idle_after));
    change.idle_after_seconds = static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
  }
  if (!options.stranger_cpu.empty()) {
    GW_TRY(const auto time, parse_duration(options.stranger_cpu));
    change.stranger_cpu_seconds = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
  }
  change.stranger_threads = options.stranger_threads;
  change.tag = options.tag;
  change.untag = options.untag;
  GW_TRY(change.allow, find_consumers(options.allow, client));
  GW_TRY(change.block, find_consumers(options.block, client));
  GW_TRY(change.unlist, find_consumers(options.unlist, client));
  GW_TRY(change.weights, parse_weights(options.weights, client));
  return ok();
}

Result<int> share(const ShareOptions& options, Invocation& invocation) {
  node::ShareChange change{.cores = options.cores, .nice = options.nice};
  change.slots_per_peer = options.slots_per_peer;
  change.jobs_per_peer = options.jobs_per_peer;
  if (!options.cpu.empty()) {
    GW_TRY(change.cpu_percent, parse_percent(options.cpu));
  }
  for (const auto& [text, bytes] :
       {std::pair(&options.memory, &change.memory_bytes), std::pair(&options.bandwidth, &change.bandwidth_bytes_per_s),
        std::pair(&options.disk, &change.disk_bytes), std::pair(&options.disk_per_peer, &change.disk_bytes_per_peer),
        std::pair(&options.disk_per_job, &change.disk_bytes_per_job), std::pair(&options.disk_per_grid, &change.disk_bytes_per_grid),
        std::pair(&options.stranger_memory, &change.stranger_memory_bytes), std::pair(&options.stranger_disk, &change.stranger_disk_bytes),
        std::pair(&options.cache, &change.cache_bytes)})
    if (!text->empty()) {
      GW_TRY(*bytes, parse_bytes(*text));
    }
  gateway::Client client(invocation.settings.socket());
  GW_TRY_VOID(read_rules(options, client, change));
  GW_TRY(const node::Share now, client.share(change));
  GW_TRY(const node::NodeView node, client.node());
  invocation.console.print({"godwit.share/1", gateway::to_json(now), fmt::format("{}\nLends to {}\n", share_text(now), lending_text(node)),
                            std::to_string(now.cores)});
  return 0;
}

std::string names_text(std::string_view what, const std::set<job::ConsumerName>& names) {
  std::string text;
  for (const job::ConsumerName& name : names) text += fmt::format("{}{}", text.empty() ? "" : ", ", name.hex().substr(0, 8));
  return names.empty() ? "" : fmt::format("; {}: {}", what, text);
}

}  // namespace

std::string share_text(const node::Share& share) {
  std::string text =
      fmt::format("{}, {}, {} % CPU", counted(share.cores, "core"),
                  share.memory_bytes == 0 ? "no memory limit" : human_bytes(share.memory_bytes) + " of memory", share.cpu_percent);
  text += fmt::format(", nice {}", share.nice);
  if (share.bandwidth_bytes_per_s > 0) text += fmt::format(", {}/s", human_bytes(share.bandwidth_bytes_per_s));
  if (share.slots_per_peer > 0) text += fmt::format(", at most {} for one peer", counted(share.slots_per_peer, "slot"));
  if (share.jobs_per_peer > 0) text += fmt::format(", at most {} of one peer", counted(share.jobs_per_peer, "job"));
  const job::Budget::Limits disk = node::budget_of(share);
  text += fmt::format(", {} of disk for other peers ({} for one grid, {} for one peer, {} for one job)", human_bytes(disk.all.bytes),
                      human_bytes(disk.grid.bytes), human_bytes(disk.origin.bytes), human_bytes(disk.job.bytes));
  if (!share.tags.empty()) text += fmt::format(", tags {}", fmt::join(share.tags, ", "));
  text += share.cache_bytes == 0 ? ", no cache" : fmt::format(", {} of cache", human_bytes(share.cache_bytes));
  return text;
}

std::string lending_text(const node::NodeView& node) {
  const job::LendingRules& rules = node.share.rules;
  std::string text = rules.audience.text();
  if (text == "mine") text = "jobs of its owner and its private grids ('--for anyone' lends to others)";
  if (!rules.when.always()) text += fmt::format("; when {}", rules.when.text());
  if (rules.when.idle)
    text += fmt::format(" (after {} without its owner)", human_duration(std::chrono::seconds(node.share.idle_after_seconds)));
  text += names_text("allowed", rules.allowed) + names_text("blocked", rules.blocked);
  for (const auto& [name, weight] : rules.weights) text += fmt::format("; weight {} for {}", weight, name.hex().substr(0, 8));
  if (rules.stranger_memory_bytes > 0) text += fmt::format("; jobs of others: {} of memory", human_bytes(rules.stranger_memory_bytes));
  if (rules.stranger_cpu_seconds > 0) text += fmt::format("; jobs of others: {} s of CPU time", rules.stranger_cpu_seconds);
  if (rules.stranger_disk_bytes > 0) text += fmt::format("; jobs of others: {} of files", human_bytes(rules.stranger_disk_bytes));
  if (rules.stranger_threads > 0) text += fmt::format("; jobs of others: {}", counted(rules.stranger_threads, "thread"));
  if (!node.not_lending.empty()) text += fmt::format("; not now: {}", node.not_lending);
  return text;
}

namespace {

void add_lending_options(Command& command, ShareOptions& options) {
  command.add_repeatable("--for", options.audience, "Lend to 'mine' (your jobs and private grids), 'anyone' or 'grid NAME'", "WHO");
  command.add_repeatable("--when", options.when, "Lend 'always', or only when 'idle', 'plugged-in' or at hours such as 22:00-07:00",
                         "WHEN");
  command.add_option("--idle-after", options.idle_after, "Time without input or load after which the machine is idle (default: 3m)",
                     "TIME");
  command.add_repeatable("--allow", options.allow, "Lend to this user or peer too", "KEY");
  command.add_repeatable("--block", options.block, "Never lend to this user or peer", "KEY");
  command.add_repeatable("--unlist", options.unlist, "Neither allow nor block this user or peer any more", "KEY");
  command.add_repeatable("--weight", options.weights, "Part of this user when users compete; others have 1", "KEY=N");
  command.add_repeatable("--tag", options.tag, "Give this machine a tag, for jobs that ask for it with 'run --need tag=NAME'", "NAME");
  command.add_repeatable("--untag", options.untag, "Take a tag from this machine", "NAME");
  command.add_option("--stranger-memory", options.stranger_memory, "Maximum memory that a job of another user may ask for; 0: no limit",
                     "SIZE");
  command.add_option("--stranger-cpu", options.stranger_cpu, "Maximum CPU time that a job of another user may ask for; 0s: no limit",
                     "TIME");
  command.add_option("--stranger-disk", options.stranger_disk, "Maximum size of files of a job of another user; 0: no limit", "SIZE");
  command.add_number("--stranger-threads", options.stranger_threads, "Maximum workers of a job of another user; 0: no limit", "N");
}

}  // namespace

void add_share_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "share",
      {.summary = "Show or change what this machine lends",
       .details =
           "Without options, prints the current share. A change takes effect at once and is kept across restarts. Each job gets memory "
           "and CPU time in proportion to its slots. Threads that no longer fit continue on other peers from their last image. "
           "--cores 0 lends nothing; jobs of this machine then run on other machines. A machine lends to its owner's jobs and private "
           "grids, "
           "unless --for says more. --for and --when may be given several times: of --for one has to match, of --when all (of several "
           "hours, "
           "one). Jobs that are not allowed any more leave as soon as their state is saved. When users compete, each gets slots by its "
           "weight.",
       .examples = {"godwit share", "godwit share --cores 2 --memory 4G --cpu 50%", "godwit share --for anyone --when idle",
                    "godwit share --when idle --when 22:00-07:00", "godwit share --bandwidth 2M --stranger-memory 1G",
                    "godwit share --tag gpu --untag slow", "godwit share --cores 0"}});
  auto options = std::make_shared<ShareOptions>();
  command.add_number("--cores", options->cores, "Number of slots: threads that may run at once", "N");
  command.add_option("--memory", options->memory, "Maximum memory of all workers together; 0: no limit", "SIZE");
  command.add_option("--cpu", options->cpu, "Maximum CPU use of each shared core, in percent", "PERCENT");
  command.add_number("--nice", options->nice, "Priority of workers: 0 (normal) to 19 (lowest, the default)", "N");
  command.add_option("--bandwidth", options->bandwidth, "Maximum bytes per second for other peers' jobs, each way; 0: no limit", "SIZE");
  command.add_number("--slots-per-peer", options->slots_per_peer, "Maximum slots for the jobs of one other peer; 0: no limit", "N");
  command.add_number("--jobs-per-peer", options->jobs_per_peer, "Maximum jobs of one other peer at a time; 0: no limit", "N");
  command.add_option("--disk", options->disk, "Maximum disk space for code, inputs and images of other peers' jobs; 0: 64G", "SIZE");
  command.add_option("--disk-per-peer", options->disk_per_peer, "Of that, for the jobs of one other peer; 0: half", "SIZE");
  command.add_option("--disk-per-job", options->disk_per_job, "Of that, for one job; 0: a quarter", "SIZE");
  command.add_option("--disk-per-grid", options->disk_per_grid, "Of that, for the jobs of one grid; 0: three quarters", "SIZE");
  add_lending_options(command, *options);
  command.add_option("--cache", options->cache, "Maximum disk space for code and inputs that stay for the next job; 0: none stay", "SIZE");
  tree.add_setting(command, Key::socket);
  tree.add_setting(command, Key::state);
  command.on_selected([options](Invocation& invocation) { return share(*options, invocation); });
}

}  // namespace gw::cli
