#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/console/quantity.h"
#include "cli/console/table.h"
#include "gateway/client.h"
#include "gateway/grid_json.h"
#include "wire/invitation.h"

namespace gw::cli {
namespace {

using gateway::Client;
using node::GridView;

Result<GridView> find_grid(Client& client, const std::string& name) {
  GW_TRY(const auto grids, client.grids());
  for (const GridView& grid : grids)
    if (grid.name == name || grid.id.hash.hex() == name) return grid;
  return fail(Kind::not_found, "this machine is not in grid '{}': list its grids with 'godwit grid list'", name);
}

std::string access_of(const GridView& grid) {
  if (grid.access == GridView::Access::open) return "open";
  return fmt::format("private, {}", gateway::name(grid.role));
}

std::string table_of_grids(const std::vector<GridView>& grids, const Terminal& terminal) {
  Table table({{.heading = "GRID"},
               {.heading = "ACCESS"},
               {.heading = "PEERS", .align = Table::Align::right},
               {.heading = "MEMBERSHIP"},
               {.heading = "ADMITTED HERE", .align = Table::Align::right},
               {.heading = "ID", .fit = Table::Fit::cut}});
  for (const GridView& grid : grids) {
    const bool open = grid.access == GridView::Access::open;
    table.add_row({grid.name, access_of(grid), std::to_string(grid.peers), open ? "-" : gateway::serial_text(grid.serial),
                   open ? "-" : std::to_string(grid.members.size()), grid.id.hash.hex()});
  }
  return table.render(terminal);
}

std::string table_of_issued(const GridView& grid, const Terminal& terminal) {
  Table table({{.heading = "SERIAL"},
               {.heading = "STATE"},
               {.heading = "WHAT"},
               {.heading = "PEER"},
               {.heading = "MACHINE", .fit = Table::Fit::cut}});
  for (const auto& issued : grid.invitations)
    table.add_row({gateway::serial_text(issued.serial), std::string(gateway::name(issued.state)),
                   fmt::format("invitation for {}", issued.uses), "-", ""});
  for (const auto& issued : grid.members)
    table.add_row({gateway::serial_text(issued.serial), std::string(gateway::name(issued.state)), "member",
                   issued.peer ? issued.peer->brief() : "-", issued.name});
  return table.render(terminal);
}

Result<int> list_grids(const std::string& name, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(auto grids, client.grids());
  if (!name.empty()) {
    GW_TRY(GridView one, find_grid(client, name));
    grids = {std::move(one)};
  }
  std::string names;
  for (const GridView& grid : grids) names += (names.empty() ? "" : "\n") + grid.name;
  std::string text = table_of_grids(grids, invocation.console.out());
  if (!name.empty() && grids.front().role == GridView::Role::holder)
    text += "\n" + table_of_issued(grids.front(), invocation.console.out());
  invocation.console.print({"godwit.grid.list/1", gateway::to_json(grids), text, names});
  return 0;
}

// Carries out an order that changes one grid, and prints `sentence`.
Result<int> changed(Invocation& invocation, const char* schema, const node::GridOrder& order, const std::string& name,
                    std::string_view sentence) {
  GW_TRY(const std::string id, Client(invocation.settings.socket()).change_grids(order));
  invocation.console.print({schema, {{"id", id}, {"name", name}}, fmt::format("{}\n", sentence), id});
  return 0;
}

Result<int> create(const std::string& name, Invocation& invocation) {
  return changed(invocation, "godwit.grid.create/1", node::CreateGrid{name}, name,
                 fmt::format("Created grid '{}'; this machine holds its key. Invite others with: godwit grid invite {}", name, name));
}

struct JoinOptions {
  std::string what, as;
};

Result<int> join(const JoinOptions& options, Invocation& invocation) {
  std::string name = options.what;
  if (wire::looks_like_invitation(options.what)) {
    GW_TRY(const wire::Invitation invitation, wire::parse_invitation(options.what));  // a bad one is refused here
    name = options.as.empty() ? invitation.name : options.as;
    invocation.console.progress(fmt::format("joining grid '{}'...", name));
  }
  return changed(invocation, "godwit.grid.join/1", node::JoinGrid{options.what, options.as}, name, fmt::format("Joined grid '{}'", name));
}

Result<int> leave(const std::string& name, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const GridView grid, find_grid(client, name));
  return changed(invocation, "godwit.grid.leave/1", node::LeaveGrid{grid.id}, grid.name, fmt::format("Left grid '{}'", grid.name));
}

struct InviteOptions {
  std::string grid;
  std::optional<std::uint32_t> uses;
  std::string expires = "7d";
  bool admin = false;
  std::vector<std::string> addresses;
};

Result<int> invite(const InviteOptions& options, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const GridView grid, find_grid(client, options.grid));
  GW_TRY(const auto lasts, parse_duration(options.expires));
  node::InviteToGrid order{.grid = grid.id, .uses = options.uses.value_or(1), .addresses = options.addresses};
  order.lasts = std::chrono::duration_cast<std::chrono::seconds>(lasts);
  if (options.admin) order.makes = node::InviteToGrid::Makes::holder;
  GW_TRY(const std::string text, client.change_grids(order));
  GW_TRY(const wire::Invitation made, wire::parse_invitation(text));
  const std::string people = fmt::format(
      "{}\n\nValid for {} and {}. On the other machine: godwit up --join '{}...'\nSerial {}. Revoke it with: godwit grid revoke {} {}\n",
      text, counted(made.uses, "machine"), human_duration(lasts), text.substr(0, 16), gateway::serial_text(made.serial), grid.name,
      gateway::serial_text(made.serial));
  invocation.console.print(
      {"godwit.grid.invite/1",
       {{"invitation", text}, {"serial", gateway::serial_text(made.serial)}, {"until", made.until}, {"addresses", made.addresses}},
       people,
       text});
  return 0;
}

struct RevokeOptions {
  std::string grid;
  std::vector<std::string> whom;
};

// `whom` is a serial, or the first digits of the id of a known peer.
Status add_revoked(const std::string& whom, Client& client, const GridView& grid, node::RevokeInGrid& order) {
  std::vector<job::PeerId> known;
  for (const auto& issued : grid.members)
    if (issued.peer) known.push_back(*issued.peer);
  GW_TRY(const auto peers, client.peers());
  for (const node::PeerView& peer : peers)
    if (peer.grid == grid.name) known.push_back(peer.id);
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  std::erase_if(known, [&](const job::PeerId& id) { return !id.hash.hex().starts_with(whom); });
  if (known.size() == 1) {
    order.peers.push_back(known.front());
    return ok();
  }
  if (const auto serial = gateway::parse_serial(whom)) {
    order.serials.push_back(*serial);
    return ok();
  }
  if (known.empty())
    return fail(Kind::not_found, "'{}' is neither a serial nor a peer of grid '{}': list both with 'godwit grid list {}'", whom, grid.name,
                grid.name);
  return fail(Kind::invalid, "'{}' matches {} peers of the grid: give more digits", whom, known.size());
}

Result<int> revoke(const RevokeOptions& options, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const GridView grid, find_grid(client, options.grid));
  node::RevokeInGrid order{.grid = grid.id};
  for (const std::string& whom : options.whom) GW_TRY_VOID(add_revoked(whom, client, grid, order));
  return changed(
      invocation, "godwit.grid.revoke/1", order, grid.name,
      fmt::format("Revoked. Members of grid '{}' that are online learn of it within seconds, others when they come back", grid.name));
}

// --- the commands

void add_grid_list(CommandTree& tree, Command& parent) {
  auto name = std::make_shared<std::string>();
  Command& command = tree.add(
      parent, "list",
      {.summary = "List the grids of this machine",
       .details = "A job that names no grid runs in the first one. With the name of a private grid whose key this machine holds, also list "
                  "the invitations it has made and the members it has admitted.",
       .examples = {"godwit grid list", "godwit grid list lab", "godwit grid list -o json"}});
  command.add_argument("grid", *name, "List only this grid", Command::Presence::optional);
  tree.add_setting(command, Key::socket);
  command.on_selected([name](Invocation& invocation) { return list_grids(*name, invocation); });
}

void add_grid_create(CommandTree& tree, Command& parent) {
  auto name = std::make_shared<std::string>();
  Command& command = tree.add(
      parent, "create",
      {.summary = "Create a private grid",
       .details = "Creates the key of the grid and keeps it on this machine, which becomes the first member and can invite others. Peers "
                  "that are not members learn nothing about the grid.",
       .examples = {"godwit grid create lab", "godwit grid create lab -o json"}});
  command.add_argument("name", *name, "Name of the new grid");
  tree.add_setting(command, Key::socket);
  command.on_selected([name](Invocation& invocation) { return create(*name, invocation); });
}

void add_grid_invite(CommandTree& tree, Command& parent) {
  auto options = std::make_shared<InviteOptions>();
  Command& command = tree.add(
      parent, "invite",
      {.summary = "Invite machines to a private grid",
       .details =
           "Prints one line to paste on another machine. Treat it like a password: the first machines that show it are admitted. This "
           "machine, or another holder of the key at one of the addresses in the invitation, must be online when it is used.",
       .examples = {"godwit grid invite lab", "godwit grid invite lab --uses 20 --expires 2h",
                    "godwit grid invite lab --admin --address grid.example.org:7400"}});
  command.add_argument("grid", options->grid, "Name of the grid");
  command.add_number("--uses", options->uses, "Number of machines that may use the invitation (default: 1)", "N");
  command.add_option("--expires", options->expires, "Time until the invitation expires (default: 7d)", "TIME");
  command.add_flag("--admin", options->admin,
                   "Also hand out the key of the grid: the machine can then invite and revoke, and cannot be revoked for good");
  command.add_repeatable("--address", options->addresses, "Address to contact when joining (default: the addresses of this machine)",
                         "HOST:PORT");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return invite(*options, invocation); });
}

void add_grid_join(CommandTree& tree, Command& parent) {
  auto options = std::make_shared<JoinOptions>();
  Command& command = tree.add(
      parent, "join",
      {.summary = "Join a grid",
       .details = "Joins a private grid with an invitation, or an open grid by name. The daemon keeps running and remembers the grid.",
       .examples = {"godwit grid join godwit:ahveu3dd4kofecv66vih...", "godwit grid join physics",
                    "godwit grid join godwit:ahveu3dd4kofecv66vih... --as work"}});
  command.add_argument("what", options->what, "An invitation, or the name of an open grid");
  command.add_option("--as", options->as, "Local name of the grid (default: its name in the invitation)", "NAME");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return join(*options, invocation); });
}

void add_grid_leave(CommandTree& tree, Command& parent) {
  auto name = std::make_shared<std::string>();
  Command& command = tree.add(
      parent, "leave",
      {.summary = "Leave a grid",
       .details =
           "Refused while jobs of this machine run in the grid. Deletes the membership of a private grid, and its key if this machine "
           "holds it: without another holder of the key no machine can be invited any more.",
       .examples = {"godwit grid leave physics", "godwit grid leave lab -o json"}});
  command.add_argument("grid", *name, "Name of the grid");
  tree.add_setting(command, Key::socket);
  command.on_selected([name](Invocation& invocation) { return leave(*name, invocation); });
}

void add_grid_revoke(CommandTree& tree, Command& parent) {
  auto options = std::make_shared<RevokeOptions>();
  Command& command = tree.add(
      parent, "revoke",
      {.summary = "Revoke invitations and memberships",
       .details = "Revoking an invitation also revokes every membership that was granted with it. Members that are online learn of it "
                  "within seconds and close their connections to the revoked peers.",
       .examples = {"godwit grid revoke lab 5f0c1a2b3c4d0000", "godwit grid revoke lab 8c2e11d0"}});
  command.add_argument("grid", options->grid, "Name of the grid");
  command.add_arguments("whom", options->whom, "Serials of invitations or memberships, or peer ids, as listed by 'godwit grid list GRID'");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return revoke(*options, invocation); });
}

}  // namespace

void add_grid_commands(CommandTree& tree) {
  Command& grid = tree.add(
      tree.root(), "grid",
      {.summary = "Create, join and leave grids",
       .details =
           "A grid is a set of peers that run each other's jobs. Every peer that knows the name of an open grid can join it; a private "
           "grid needs an invitation.",
       .examples = {"godwit grid create lab", "godwit grid invite lab", "godwit grid list"}});
  grid.require_subcommand();
  add_grid_list(tree, grid);
  add_grid_create(tree, grid);
  add_grid_invite(tree, grid);
  add_grid_join(tree, grid);
  add_grid_leave(tree, grid);
  add_grid_revoke(tree, grid);
}

}  // namespace gw::cli
