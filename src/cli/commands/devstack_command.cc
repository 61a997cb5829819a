#include <fmt/format.h>
#include <poll.h>

#include <charconv>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/console/interrupts.h"
#include "cli/console/quantity.h"
#include "cli/daemon/daemon_process.h"
#include "cli/daemon/dev_network.h"
#include "cli/settings/submitter_key.h"
#include "os/files/file.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMaxPeers = 200;

struct StackOptions {
  std::string peers;
  std::string latency;
  std::string loss;
  std::optional<std::uint32_t> nat;
  std::optional<std::uint32_t> slots;
};

Result<std::uint32_t> parse_peers(const std::string& text) {
  std::uint32_t peers = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), peers);
  if (error != std::errc() || end != text.data() + text.size() || peers == 0 || peers > kMaxPeers)
    return fail(Kind::invalid, "'{}' is not a number of peers: give 1 to {}", text, kMaxPeers);
  return peers;
}

Result<double> parse_loss(const std::string& text) {
  double loss = 0;
  const std::string_view digits = text.ends_with('%') ? std::string_view(text).substr(0, text.size() - 1) : "";
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), loss);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || loss < 0 || loss > 100)
    return fail(Kind::invalid, "'{}' is not a percentage: write it like 1%", text);
  return loss / 100;
}

// nullptr: the peers use the loopback of this machine.
Result<std::unique_ptr<DevNetwork>> make_network(const StackOptions& options, std::uint32_t peers) {
  if (options.latency.empty() && options.loss.empty() && !options.nat) return std::unique_ptr<DevNetwork>();
  DevNetwork::Config config{.hosts = peers, .behind_nat = options.nat.value_or(0)};
  if (config.behind_nat >= config.hosts)
    return fail(Kind::invalid, "--nat {} of {} peers leaves no peer that can be dialled: put at least one outside", config.behind_nat,
                peers);
  if (!options.loss.empty()) {
    GW_TRY(const double loss, parse_loss(options.loss));
    config.links.push_back(fmt::format("* * 0 0 {}", loss));
  }
  if (!options.latency.empty()) {
    GW_TRY(const std::vector<std::string> links, read_links(options.latency, peers));
    config.links.insert(config.links.end(), links.begin(), links.end());
  }
  return DevNetwork::make(config);
}

// The peers, each with a folder of its own. The destructor ends the peers and removes the folders.
struct Stack {
  os::TempDir folder;
  std::unique_ptr<DevNetwork> network;
  std::vector<DaemonProcess> peers = {};

  fs::path place(std::size_t number) const { return folder.path() / std::to_string(number); }
  fs::path socket(std::size_t number) const { return place(number) / "socket"; }
};

Status add_peer(Stack& stack, const StackOptions& options) {
  const std::size_t number = stack.peers.size() + 1;
  DaemonOptions daemon{.socket = stack.socket(number), .state = stack.place(number), .slots = options.slots.value_or(1)};
  GW_TRY(const SigningKey key, load_or_make_submitter_key(usual_submitter_key()));
  daemon.owner = hex(key.public_key());  // as a user's own machines: they lend to each other
  daemon.listen = {stack.network ? stack.network->address(number) + ":7400" : "127.0.0.1:0"};
  daemon.name = fmt::format("peer-{}", number);  // all of them are on one machine
  if (stack.network) daemon.inside = stack.network->enter(number);
  if (number > 1) daemon.join = {stack.peers.front().view().addresses.front()};
  GW_TRY(DaemonProcess process, DaemonProcess::start(daemon, DaemonProcess::Life::ours));
  stack.peers.push_back(std::move(process));
  return ok();
}

void tell_stack(const Stack& stack, Console& console) {
  Table table({{.heading = "NUMBER", .align = Table::Align::right},
               {.heading = "PEER"},
               {.heading = "MACHINE"},
               {.heading = "ADDRESS"},
               {.heading = "SOCKET"}});
  Json list = Json::array();
  std::string sockets;
  for (std::size_t number = 1; number <= stack.peers.size(); ++number) {
    const node::NodeView& view = stack.peers[number - 1].view();
    const std::string socket = stack.socket(number).string();
    table.add_row({std::to_string(number), view.id.brief(), view.name, view.addresses.front(), socket});
    list.push_back({{"id", view.id.hash.hex()},
                    {"name", view.name},
                    {"pid", stack.peers[number - 1].pid()},
                    {"address", view.addresses.front()},
                    {"socket", socket},
                    {"log", log_file(stack.place(number)).string()}});
    sockets += (sockets.empty() ? "" : "\n") + socket;
  }
  if (console.format() == Format::json) return console.print_line({{"schema", "godwit.devstack/1"}, {"peers", list}});
  const std::string first = stack.socket(1).string();
  const std::string hint = fmt::format(
      "\nUse one of them:  godwit peer list --socket {0}\nRun a job:        GODWIT_SOCKET={0} godwit run "
      "examples/raytracer.cpp --workers {1} --tasks 20\nStop all:         Ctrl-C\n",
      first, stack.peers.size());
  console.print({"godwit.devstack/1", {{"peers", list}}, table.render(console.out()) + hint, sockets});
}

// Until Ctrl-C, or until one of them ends by itself.
Status wait_for_the_end(Stack& stack, Interrupts& interrupts) {
  int ends[2];
  if (::pipe(ends) != 0) return fail(Kind::internal, "cannot create a pipe");
  const os::UniqueFd stopped(ends[0]), stop(ends[1]);
  interrupts.watch({[&stop] { (void)!::write(stop.get(), "", 1); }, [] {}});
  std::vector<pollfd> watched{{.fd = stopped.get(), .events = POLLIN, .revents = 0}};
  for (const DaemonProcess& peer : stack.peers) watched.push_back({.fd = peer.exited_fd(), .events = POLLIN, .revents = 0});
  while (::poll(watched.data(), watched.size(), -1) < 0) {
  }
  interrupts.stop();
  if (watched.front().revents != 0) return ok();
  return fail(Kind::internal, "a peer has exited by itself: start fewer peers, or look for the cause with 'dmesg'");
}

Result<int> run_stack(const StackOptions& options, Invocation& invocation) {
  GW_TRY(const std::uint32_t peers, parse_peers(options.peers));
  GW_TRY(auto interrupts, Interrupts::make());
  GW_TRY(auto network, make_network(options, peers));
  GW_TRY(os::TempDir folder, os::TempDir::make());
  Stack stack{.folder = std::move(folder), .network = std::move(network)};
  for (std::uint32_t i = 0; i < peers; ++i) {
    invocation.console.progress(fmt::format("starting {} of {}...", i + 1, peers));
    GW_TRY_VOID(add_peer(stack, options));
  }
  invocation.console.clear_progress();
  tell_stack(stack, invocation.console);
  GW_TRY_VOID(invocation.console.flush());
  const Status ended = wait_for_the_end(stack, *interrupts);
  invocation.console.progress("stopping...");
  for (DaemonProcess& peer : stack.peers) peer.stop();
  invocation.console.clear_progress();
  if (!ended) return ended.error();
  return 0;
}

}  // namespace

void add_devstack_command(CommandTree& tree) {
  Command& command =
      tree.add(tree.root(), "devstack",
               {.summary = "Start several peers on this machine for testing",
                .details = "The peers join each other and run until Ctrl-C, which removes all their files. With --latency, --loss or --nat "
                           "each peer gets its "
                           "own network namespace, which needs root. Each line of a latency file is FROM TO DELAY_MS [JITTER_MS [LOSS]]; "
                           "peers are numbered "
                           "from 1, * stands for all.",
                .examples = {"godwit devstack 4", "sudo godwit devstack 4 --loss 1%", "sudo godwit devstack 6 --latency far.txt --nat 2"}});
  auto options = std::make_shared<StackOptions>();
  command.add_argument("N", options->peers, "Number of peers");
  command.add_option("--latency", options->latency, "File with the delays between peers", "FILE");
  command.add_option("--loss", options->loss, "Share of packets to drop", "PERCENT");
  command.add_number("--nat", options->nat, "Number of peers to put behind NAT", "M");
  command.add_number("--slots", options->slots, "Slots of each peer (default: 1)", "N");
  command.on_selected([options](Invocation& invocation) { return run_stack(*options, invocation); });
}

}  // namespace gw::cli
