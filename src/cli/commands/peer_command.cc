#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "cli/commands/commands.h"
#include "cli/console/job_tables.h"
#include "cli/console/quantity.h"
#include "gateway/client.h"
#include "gateway/view_json.h"

namespace gw::cli {
namespace {

using gateway::Client;
using node::PeerView;

Result<int> list_peers(Invocation& invocation) {
  GW_TRY(const auto peers, Client(invocation.settings.socket()).peers());
  std::string ids;
  for (const PeerView& peer : peers) ids += (ids.empty() ? "" : "\n") + peer.id.hash.hex();
  invocation.console.print({"godwit.peer.list/1", gateway::to_json(peers), table_of(peers, invocation.console.out()), ids});
  return 0;
}

// The views, one for each grid, of the peer whose id begins with `text`, or whose machine or address it names.
Result<std::vector<PeerView>> find_peer(std::string_view text, const std::vector<PeerView>& peers) {
  std::vector<PeerView> found;
  for (const PeerView& peer : peers)
    if (!text.empty() && (peer.id.hash.hex().starts_with(text) || peer.address == text || peer.name == text)) found.push_back(peer);
  if (found.empty()) return fail(Kind::not_found, "there is no peer '{}': list the known peers with 'godwit peer list'", text);
  if (std::ranges::any_of(found, [&](const PeerView& peer) { return peer.id != found.front().id; }))
    return fail(Kind::invalid, "several peers are meant by '{}': give more digits of the id", text);
  return found;
}

Result<int> show_peer(const std::string& name, Invocation& invocation) {
  GW_TRY(const auto peers, Client(invocation.settings.socket()).peers());
  GW_TRY(const std::vector<PeerView> found, find_peer(name, peers));
  Rows rows;
  const PeerView& first = found.front();
  rows.add("id", "peer", first.id.hash.hex())
      .add("name", "machine", first.name.empty() ? "no name" : first.name)
      .add("address", "address", first.address.empty() ? "none (cannot be dialled)" : first.address)
      .add("class", "class", gateway::name(first.reach))
      .add("slots", "slots", fmt::format("{} of {} free", first.free_slots, first.slots));
  for (const PeerView& peer : found)
    rows.add("grid", "grid " + peer.grid,
             fmt::format("{}{}", gateway::name(peer.state), peer.heard ? ", last seen " + human_duration(*peer.heard) + " ago" : ""));
  if (first.capacity) rows.add("capacity", "capacity", capacity_text(*first.capacity));
  if (first.capacity && first.capacity->uptime_s() > 0)
    rows.add("uptime", "up", human_duration(std::chrono::seconds(first.capacity->uptime_s())));
  if (first.network_speed)
    rows.add("network", "network",
             human_bytes(static_cast<std::uint64_t>(*first.network_speed)) + "/s, as measured when it sent data here");
  if (first.distance) rows.add("distance", "distance", fmt::format("{:.1f} ms", static_cast<double>(first.distance->count()) / 1000));
  invocation.console.print({"godwit.peer.show/1", gateway::to_json(found), rows.render(invocation.console.out()), first.id.hash.hex()});
  return 0;
}

// --- ping

constexpr std::uint32_t kMaxPings = 10'000;

struct PingOptions {
  std::string peer;
  std::optional<std::uint32_t> count;
  std::string interval = "1s";
};

std::string ping_line(const node::PingView& pong) {
  return fmt::format("{:.2f} ms, {}{}, version {}, clock {:+.3f} s", static_cast<double>(pong.round_trip.count()) / 1000, pong.way,
                     pong.remote.empty() ? "" : " " + pong.remote, pong.version, static_cast<double>(pong.clock_ahead.count()) / 1000);
}

std::string ping_summary(std::uint32_t sent, std::vector<std::chrono::microseconds> times) {
  std::string text = fmt::format("{} sent, {} answered", sent, times.size());
  if (times.empty()) return text + "\n";
  std::ranges::sort(times);
  const auto milliseconds = [](std::chrono::microseconds time) { return static_cast<double>(time.count()) / 1000; };
  return fmt::format("{}; min {:.2f} ms, median {:.2f} ms, max {:.2f} ms\n", text, milliseconds(times.front()),
                     milliseconds(times[times.size() / 2]), milliseconds(times.back()));
}

Result<int> ping_peer(const PingOptions& options, Invocation& invocation) {
  GW_TRY(const auto interval, parse_duration(options.interval));
  const std::uint32_t count = options.count.value_or(3);
  if (count < 1 || count > kMaxPings) return fail(Kind::invalid, "--count {} is out of range: give 1 to {}", count, kMaxPings);
  Client client(invocation.settings.socket());
  GW_TRY(const auto peers, client.peers());
  GW_TRY(const std::vector<PeerView> found, find_peer(options.peer, peers));
  Json pings = Json::array();
  std::vector<std::chrono::microseconds> times;
  const bool shows = invocation.console.format() == Format::table;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i > 0) std::this_thread::sleep_for(interval);
    const auto pong = client.ping(found.front().id);
    if (shows) invocation.console.print_text(printable(pong ? ping_line(*pong) : pong.error().detail, Newlines::replaced) + "\n");
    pings.push_back(pong ? gateway::to_json(*pong) : Json{{"error", pong.error().detail}});
    if (pong) times.push_back(pong->round_trip);
  }
  const Json json = {{"peer", found.front().id.hash.hex()}, {"sent", count}, {"answered", times.size()}, {"pings", pings}};
  invocation.console.print({"godwit.peer.ping/1", json, ping_summary(count, times), std::to_string(times.size())});
  return times.empty() ? static_cast<int>(ExitCode::failed) : 0;
}

// --- wait

struct WaitOptions {
  std::optional<std::uint32_t> peers;
  std::string timeout = "1m";
};

std::size_t alive_among(const std::vector<PeerView>& peers) {
  std::vector<job::PeerId> alive;
  for (const PeerView& peer : peers)
    if (peer.state == PeerView::State::alive || peer.state == PeerView::State::self) alive.push_back(peer.id);
  std::ranges::sort(alive);
  return alive.size() - std::ranges::unique(alive).size();
}

Result<int> wait_for_peers(const WaitOptions& options, Invocation& invocation) {
  constexpr std::chrono::milliseconds kPause{100};
  GW_TRY(const auto timeout, parse_duration(options.timeout));
  const std::size_t wanted = options.peers.value_or(2);
  Client client(invocation.settings.socket());
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    GW_TRY(const auto peers, client.peers());
    const std::size_t alive = alive_among(peers);
    if (alive >= wanted) {
      invocation.console.clear_progress();
      invocation.console.print(
          {"godwit.peer.wait/1", {{"alive", alive}}, fmt::format("{} alive\n", counted(alive, "peer")), std::to_string(alive)});
      return 0;
    }
    if (std::chrono::steady_clock::now() >= deadline)
      return fail(Kind::timeout, "{} of {} peers are alive after {}: find out why with 'godwit doctor'", alive, wanted, options.timeout);
    invocation.console.progress(fmt::format("{} of {} peers", alive, wanted));
    std::this_thread::sleep_for(kPause);
  }
}

// --- the commands

constexpr const char* kPeerText = "Peer id, its first digits, the name of the machine, or the address of the peer";

void add_daemon_place(CommandTree& tree, Command& command) {
  tree.add_setting(command, Key::socket);
  tree.add_setting(command, Key::state);
}

void add_peer_list(CommandTree& tree, Command& parent) {
  Command& command = tree.add(
      parent, "list",
      {.summary = "List the known peers",
       .details = "STATE: a suspected peer has not answered for some seconds; a silent peer counts as gone. DISTANCE: round-trip time, "
                  "measured or estimated. CLASS: open (can be dialled), outbound (can only dial others) or relay_only (is reached "
                  "through relays). SPEED: of a core, 1 is the reference machine, as the peer said in its last offer to a job of this "
                  "machine. NETWORK: bytes per second, measured while it sent data here.",
       .examples = {"godwit peer list", "godwit peer list -o json"}});
  add_daemon_place(tree, command);
  command.on_selected([](Invocation& invocation) { return list_peers(invocation); });
}

void add_peer_show(CommandTree& tree, Command& parent) {
  Command& command =
      tree.add(parent, "show",
               {.summary = "Show one peer",
                .details = "Speed, memory, disk, load and tags are those of its last offer to a job of this machine.",
                .examples = {"godwit peer show 3f9a01", "godwit peer show lab-3", "godwit peer show 10.0.0.5:7400 -o json"}});
  auto peer = std::make_shared<std::string>();
  command.add_argument("PEER", *peer, kPeerText);
  add_daemon_place(tree, command);
  command.on_selected([peer](Invocation& invocation) { return show_peer(*peer, invocation); });
}

void add_peer_ping(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "ping",
                              {.summary = "Measure the round-trip time to a peer",
                               .details = "Uses the existing connection, or opens one: direct, reverse (the other side dials) or relayed. "
                                          "Exits with 1 if no answer arrives.",
                               .examples = {"godwit peer ping 3f9a01", "godwit peer ping 3f9a01 --count 10 --interval 200ms"}});
  auto options = std::make_shared<PingOptions>();
  command.add_argument("PEER", options->peer, kPeerText);
  command.add_number("--count", options->count, "Number of pings (default: 3)", "N");
  command.add_option("--interval", options->interval, "Time between two pings (default: 1s)", "TIME");
  add_daemon_place(tree, command);
  command.on_selected([options](Invocation& invocation) { return ping_peer(*options, invocation); });
}

void add_peer_wait(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "wait",
                              {.summary = "Wait until a number of peers are alive, including this one",
                               .details = "",
                               .examples = {"godwit peer wait --peers 4", "godwit peer wait --peers 4 --timeout 10s"}});
  auto options = std::make_shared<WaitOptions>();
  command.add_number("--peers", options->peers, "Number of peers to wait for (default: 2)", "N");
  command.add_option("--timeout", options->timeout, "Give up after this time (default: 1m)", "TIME");
  add_daemon_place(tree, command);
  command.on_selected([options](Invocation& invocation) { return wait_for_peers(*options, invocation); });
}

}  // namespace

void add_peer_commands(CommandTree& tree) {
  Command& peer =
      tree.add(tree.root(), "peer",
               {.summary = "List, show and ping peers", .details = "", .examples = {"godwit peer list", "godwit peer ping 3f9a01"}});
  peer.require_subcommand();
  add_peer_list(tree, peer);
  add_peer_show(tree, peer);
  add_peer_ping(tree, peer);
  add_peer_wait(tree, peer);
}

}  // namespace gw::cli
