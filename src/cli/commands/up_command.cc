#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/console/job_tables.h"
#include "cli/console/quantity.h"
#include "cli/daemon/daemon_process.h"
#include "cli/daemon/systemd_unit.h"
#include "cli/settings/submitter_key.h"
#include "gateway/view_json.h"
#include "gateway/web/web_address.h"
#include "os/files/io.h"
#include "wire/grid_name.h"
#include "wire/invitation.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

struct UpOptions {
  std::vector<std::string> join;
  std::vector<std::string> grids;
  std::vector<std::string> listen;
  std::vector<std::string> audience;
  std::string tracker;
  std::optional<std::string> web;  // empty: at the usual address
  std::optional<std::uint32_t> ready_fd;
  bool foreground = false;
  bool background = false;
  bool ephemeral = false;
  bool install = false;
  bool no_discovery = false;

  bool stays() const { return foreground || ephemeral || ready_fd; }
};

Status check_together(const UpOptions& options) {
  if (options.background && options.stays())
    return fail(Kind::invalid, "--background cannot be combined with --foreground, --ephemeral or --ready-fd: drop one of them");
  if (options.install && (options.background || options.stays()))
    return fail(Kind::invalid, "--install lets systemd start the daemon: drop --foreground, --background, --ephemeral and --ready-fd");
  if (options.ready_fd && ::fcntl(static_cast<int>(*options.ready_fd), F_GETFD) < 0)
    return fail(Kind::invalid, "--ready-fd {}: this descriptor is not open", *options.ready_fd);
  return ok();
}

// The values of the flags, or those of the setting if there are none.
std::vector<std::string> chosen(const std::vector<std::string>& flags, const Settings& settings, Key key) {
  if (!flags.empty() || settings[key].text == kAuto) return flags;
  return parts_of(settings[key].text);
}

Result<DaemonOptions> to_daemon_options(const UpOptions& options, const Settings& settings) {
  GW_TRY(const fs::path state, settings.state());
  DaemonOptions daemon{.socket = fs::absolute(settings.socket()),
                       .state = fs::absolute(state),
                       .listen = chosen(options.listen, settings, Key::listen),
                       .join = chosen(options.join, settings, Key::join),
                       .grids = chosen(options.grids, settings, Key::grid)};
  daemon.tracker = options.tracker;
  daemon.web = options.web;
  if (options.web) GW_TRY_VOID(gateway::check_web_address(*options.web));
  GW_TRY(const SigningKey key, load_or_make_submitter_key(usual_submitter_key()));
  daemon.owner = hex(key.public_key());
  daemon.audience = fmt::format("{}", fmt::join(options.audience, ","));
  if (!options.audience.empty()) GW_TRY_VOID(job::LendingAudience::parse(daemon.audience));
  if (options.no_discovery) daemon.discovery = DaemonOptions::Discovery::off;
  GW_TRY_VOID(setting_key(Key::listen).check(fmt::format("{}", fmt::join(daemon.listen, ","))));
  GW_TRY_VOID(setting_key(Key::join).check(fmt::format("{}", fmt::join(daemon.join, ","))));
  GW_TRY_VOID(setting_key(Key::grid).check(fmt::format("{}", fmt::join(daemon.grids, ","))));
  if (settings[Key::machine_name].text != kAuto) daemon.name = settings[Key::machine_name].text;
  if (settings[Key::slots].text != kAuto) daemon.slots = std::stoul(settings[Key::slots].text);
  GW_TRY(const auto keep_for, parse_duration(settings[Key::keep_jobs].text));
  daemon.keep_for = std::chrono::duration_cast<std::chrono::seconds>(keep_for);
  GW_TRY(daemon.keep_bytes, parse_bytes(settings[Key::keep_output].text));
  daemon.fetch_private = settings[Key::fetch_private].text == "on";
  if (options.ready_fd) daemon.ready_fd = static_cast<int>(*options.ready_fd);
  return daemon;
}

// Replaces this process by the daemon, so that its log goes to this terminal and Ctrl-C stops it.
Error become_daemon(const DaemonOptions& options, const UpOptions& up) {
  auto program = daemon_program();
  if (!program) return program.error();
  std::vector<std::string> words = daemon_words(*program, options);
  if (up.ephemeral) words.emplace_back("--ephemeral");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(program->c_str(), pointers.data());
  return fail(Kind::internal, "cannot start {}: {}", program->string(), os::reason(errno));
}

// --- the report

// Options with which a command finds this daemon, if it is not the default one.
std::string path_to(const Settings& settings) {
  if (settings.is_chosen(Key::socket)) return fmt::format(" --socket {}", settings.socket().string());
  if (settings.is_chosen(Key::state)) return fmt::format(" --state {}", settings[Key::state].text);
  return "";
}

bool only_here(const std::string& address) { return address.starts_with("127.") || address.starts_with("[::1]"); }

std::string join_line(const node::NodeView& node) {
  return node.addresses.empty() || only_here(node.addresses.front()) ? "" : "godwit up --join " + node.addresses.front();
}

std::string lends_to(const job::LendingAudience& audience, const std::string& path) {
  if (audience != job::LendingRules().audience) return audience.text();
  return fmt::format("your jobs and private grids; to lend to others: godwit share --for anyone{}", path);
}

Result<int> tell(const DaemonProcess& process, const DaemonOptions& daemon, Invocation& invocation) {
  const node::NodeView& node = process.view();
  const std::string join = join_line(node), stop = "godwit down" + path_to(invocation.settings);
  std::string dashboard;
  if (daemon.web) {
    GW_TRY(const gateway::WebLink link, gateway::Client(daemon.socket).add_web_token(gateway::Scope::manage));
    dashboard = link.link;
  }
  const std::string api = fmt::format("curl --unix-socket {} http://godwit/v1/node", daemon.socket.string());
  Rows rows;
  rows.add("id", "peer", node.id.hash.hex())
      .add("name", "machine", node.name)
      .add("addresses", "address", node.addresses, fmt::format("{}", fmt::join(node.addresses, ", ")))
      .add("slots", "slots", node.slots)
      .add("socket", "socket", daemon.socket.string())
      .add("state", "state", daemon.state.string())
      .add("log", "log", log_file(daemon.state).string())
      .add("pid", "process", process.pid());
  Json json = rows.json();
  json.update(Json{{"join", join.empty() ? Json() : Json(join)},
                   {"stop", stop},
                   {"api", api},
                   {"dashboard", dashboard.empty() ? Json() : Json(dashboard)}});
  // Plain lines instead of a table, which may cut them: users copy these lines.
  const std::string next = fmt::format(
      "\nJoin another machine:  {}\nStop this daemon:      {}\nAsk its API:           {}\nLends to:              {}\nDashboard:            "
      " {}\n",
      join.empty() ? "not possible, it listens on loopback only; restart it with --listen 0.0.0.0:7400" : join, stop, api,
      lends_to(node.share.rules.audience, path_to(invocation.settings)),
      dashboard.empty() ? "not served; restart the daemon with --web" : dashboard);
  invocation.console.print({"godwit.up/1", json, rows.render(invocation.console.out()) + next, node.id.hash.hex()});
  return 0;
}

// --- install, foreground, background

Result<int> install(const UpOptions& options, Invocation& invocation) {
  std::error_code failure;
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe", failure).string(), "up", "--foreground"};
  const auto add = [&words](std::string_view flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) words.insert(words.end(), {std::string(flag), value});
  };
  add("--join", options.join);
  add("--grid", options.grids);
  add("--listen", options.listen);
  add("--for", options.audience);
  if (!options.tracker.empty()) add("--tracker", {options.tracker});
  if (options.web) words.push_back(options.web->empty() ? "--web" : "--web=" + *options.web);
  if (options.no_discovery) words.emplace_back("--no-discovery");
  for (const Key key : {Key::socket, Key::state, Key::machine_name, Key::slots, Key::keep_jobs, Key::keep_output, Key::fetch_private}) {
    const bool is_path = key == Key::socket || key == Key::state;
    const std::string& text = invocation.settings[key].text;
    if (invocation.settings[key].origin.starts_with("--")) add(setting_key(key).flag, {is_path ? fs::absolute(text).string() : text});
  }
  GW_TRY(const UnitChange change, install_unit(words));
  Rows rows;
  rows.add("unit", "unit", unit_file().string())
      .add("systemd", "systemd", change.taken, change.taken ? "started now and at every login" : "not started")
      .add("to_do", "to do", change.to_do, change.taken ? "to start it at boot, without a login: loginctl enable-linger" : change.to_do)
      .add("stop", "to remove it", "godwit down --uninstall");
  invocation.console.print({"godwit.up.install/1", rows.json(), rows.render(invocation.console.out()), unit_file().string()});
  return 0;
}

// Joins as 'godwit grid join' does, so that a bad invitation is answered here. A grid that this machine is in already is skipped.
Status use_invitations(const std::vector<std::string>& invitations, const DaemonOptions& daemon, Console& console) {
  gateway::Client client(daemon.socket);
  GW_TRY(const auto grids, client.grids());
  for (const std::string& text : invitations) {
    GW_TRY(const wire::Invitation invitation, wire::parse_invitation(text));
    const auto is_there = [id = wire::private_grid(invitation.grid_key)](const node::GridView& grid) {
      return grid.id == id && grid.role != node::GridView::Role::revoked;
    };
    if (std::ranges::any_of(grids, is_there)) continue;
    console.progress(fmt::format("joining grid '{}'...", invitation.name));
    const auto joined = client.change_grids(node::JoinGrid{text, ""});
    console.clear_progress();
    if (!joined)
      return fail(joined.error().kind, "cannot join grid '{}': {}. The daemon was stopped", invitation.name, joined.error().detail);
  }
  return ok();
}

// The invitations among the ways to join. A daemon in the background is told of them when it runs, one in the foreground by its options.
std::vector<std::string> take_invitations(DaemonOptions& daemon) {
  std::vector<std::string> invitations;
  std::erase_if(daemon.join, [&](const std::string& way) {
    if (!wire::looks_like_invitation(way)) return false;
    invitations.push_back(way);
    return true;
  });
  if (!invitations.empty()) daemon.first_grid = DaemonOptions::FirstGrid::none;
  return invitations;
}

Result<int> up(const UpOptions& options, Invocation& invocation) {
  GW_TRY_VOID(check_together(options));
  GW_TRY(DaemonOptions daemon, to_daemon_options(options, invocation.settings));
  if (options.install) return install(options, invocation);
  if (auto there = gateway::Client(daemon.socket).node())
    return fail(Kind::invalid,
                "a daemon (peer {}) already listens at {}: stop it with 'godwit down{}', or start a second one with --state FOLDER",
                peer_text(there->name, there->id), daemon.socket.string(), path_to(invocation.settings));
  if (options.stays()) return become_daemon(daemon, options);
  const std::vector<std::string> invitations = take_invitations(daemon);
  invocation.console.progress("starting...");
  GW_TRY(DaemonProcess process, DaemonProcess::start(daemon, DaemonProcess::Life::own));
  invocation.console.clear_progress();
  if (const Status joined = use_invitations(invitations, daemon, invocation.console); !joined) {
    process.stop();
    return joined.error();
  }
  GW_TRY(const int code, tell(process, daemon, invocation));
  process.leave();
  return code;
}

std::string described(Key key) { return fmt::format("{} (default: {})", setting_key(key).description, setting_key(key).built_in); }

}  // namespace

void add_up_command(CommandTree& tree) {
  Command& command = tree.add(
      tree.root(), "up",
      {.summary = "Start the daemon: share this machine and run jobs on other machines",
       .details =
           "Starts a daemon of this user in the background and prints the command that joins the next machine. The daemon runs tasks of "
           "other peers' jobs in sandboxed processes, on as many slots as 'godwit share' allows. Jobs submitted to it survive a crash or "
           "restart of the daemon. Use 'godwit down' to stop it, and --state FOLDER to run a second daemon on the same machine.",
       .examples = {"godwit up", "godwit up --join 10.0.0.5:7400", "godwit up --join godwit:ahveu3dd4kofecv66vih...",
                    "godwit up --join http://tracker.example.org:7480", "godwit up --install", "godwit up --listen 10.0.0.5:7400 --slots 4",
                    "godwit up --for anyone", "godwit up --web", "godwit up --web 127.0.0.1:8080",
                    "godwit up --foreground --state /srv/second"}});
  auto options = std::make_shared<UpOptions>();
  command.add_repeatable("--join", options->join, described(Key::join), "WHERE");
  command.add_repeatable("--grid", options->grids, described(Key::grid), "NAME");
  command.add_repeatable("--listen", options->listen, described(Key::listen), "ADDRESS:PORT");
  tree.add_setting(command, Key::machine_name);
  tree.add_setting(command, Key::slots);
  tree.add_setting(command, Key::keep_jobs);
  tree.add_setting(command, Key::keep_output);
  tree.add_setting(command, Key::fetch_private);
  tree.add_setting(command, Key::state);
  tree.add_setting(command, Key::socket);
  command.add_repeatable("--for", options->audience,
                         "Lend to 'mine' (your jobs and private grids, the default), 'anyone' or 'grid NAME'; kept, as by 'godwit share'",
                         "WHO");
  command.add_option("--tracker", options->tracker, "Also run a tracker at this address", "ADDRESS:PORT");
  command.add_option_with_default(
      "--web", options->web, "Also serve the dashboard to browsers on this machine (default address: 127.0.0.1:7500)", "[ADDRESS:PORT]");
  command.add_flag("--no-discovery", options->no_discovery, "Turn off peer discovery on the local network");
  command.add_flag("--background", options->background, "Run in the background and log to a file (the default)");
  command.add_flag("--foreground", options->foreground, "Run in this terminal and log to it");
  command.add_flag("--ephemeral", options->ephemeral, "Exit when standard input is closed; implies --foreground");
  command.add_flag("--install", options->install, "Install a systemd user unit that starts the daemon now and at every login");
  command.add_number("--ready-fd", options->ready_fd, "Write a line to this file descriptor when the daemon is ready; implies --foreground",
                     "N");
  command.on_selected([options](Invocation& invocation) { return up(*options, invocation); });
}

}  // namespace gw::cli
