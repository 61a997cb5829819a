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
  return fail(Kind::not_found, "the peer of this machine is in no grid '{}': 'godwit grid list' shows those it is in", name);
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
               {.heading = "LET IN HERE", .align = Table::Align::right},
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

Result<int> list(const std::string& name, Invocation& invocation) {
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

// What a command did to one grid.
Result<int> changed(Invocation& invocation, const char* schema, const node::GridOrder& order, const std::string& name,
                    std::string_view sentence) {
  GW_TRY(const std::string id, Client(invocation.settings.socket()).change_grids(order));
  invocation.console.print({schema, {{"id", id}, {"name", name}}, fmt::format("{}\n", sentence), id});
  return 0;
}

Result<int> create(const std::string& name, Invocation& invocation) {
  return changed(invocation, "godwit.grid.create/1", node::CreateGrid{name}, name,
                 fmt::format("grid '{}' is there, and this peer holds its key; 'godwit grid invite {}' lets others in", name, name));
}

struct JoinOptions {
  std::string what, as;
};

Result<int> join(const JoinOptions& options, Invocation& invocation) {
  std::string name = options.what;
  if (wire::looks_like_invitation(options.what)) {
    GW_TRY(const wire::Invitation invitation, wire::parse_invitation(options.what));  // before anybody is asked
    name = options.as.empty() ? invitation.name : options.as;
    invocation.console.progress(fmt::format("asking to be let into grid '{}'...", name));
  }
  return changed(invocation, "godwit.grid.join/1", node::JoinGrid{options.what, options.as}, name,
                 fmt::format("this peer is in grid '{}'", name));
}

Result<int> leave(const std::string& name, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const GridView grid, find_grid(client, name));
  return changed(invocation, "godwit.grid.leave/1", node::LeaveGrid{grid.id}, grid.name,
                 fmt::format("this peer has left grid '{}'", grid.name));
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
      "{}\n\nfor {}, good for {}; on the other machine: godwit up --join '{}...'\nserial {}, to take it back: godwit grid revoke {} {}\n",
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

// A serial, or the beginning of the id of a peer that is known.
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
    return fail(Kind::not_found, "'{}' is neither a serial nor a peer of grid '{}': 'godwit grid list {}' shows both", whom, grid.name,
                grid.name);
  return fail(Kind::invalid, "'{}' is the beginning of {} peers of the grid: give more of it", whom, known.size());
}

Result<int> revoke(const RevokeOptions& options, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const GridView grid, find_grid(client, options.grid));
  node::RevokeInGrid order{.grid = grid.id};
  for (const std::string& whom : options.whom) GW_TRY_VOID(add_revoked(whom, client, grid, order));
  return changed(invocation, "godwit.grid.revoke/1", order, grid.name,
                 fmt::format("revoked; the members of grid '{}' that are up hear of it now, others when they are back", grid.name));
}

// --- the commands

void add_grid_list(CommandTree& tree, Command& parent) {
  auto name = std::make_shared<std::string>();
  Command& command =
      tree.add(parent, "list",
               {.summary = "List the grids that the peer of this machine is in",
                .details = "Jobs that name no grid run in the first. With the name of a private grid whose key this peer holds: also the "
                           "invitations it has made, and the members it has let in.",
                .examples = {"godwit grid list", "godwit grid list lab", "godwit grid list -o json"}});
  command.add_argument("grid", *name, "Only this one", Command::Presence::optional);
  tree.add_setting(command, Key::socket);
  command.on_selected([name](Invocation& invocation) { return list(*name, invocation); });
}

void add_grid_create(CommandTree& tree, Command& parent) {
  auto name = std::make_shared<std::string>();
  Command& command =
      tree.add(parent, "create",
               {.summary = "Make a private grid",
                .details = "The key of the grid is made and kept by the peer of this machine, which is its first member and can invite "
                           "others. Whoever is not a member learns nothing of the grid.",
                .examples = {"godwit grid create lab", "godwit grid create lab -o json"}});
  command.add_argument("name", *name, "What the grid is called");
  tree.add_setting(command, Key::socket);
  command.on_selected([name](Invocation& invocation) { return create(*name, invocation); });
}

void add_grid_invite(CommandTree& tree, Command& parent) {
  auto options = std::make_shared<InviteOptions>();
  Command& command =
      tree.add(parent, "invite",
               {.summary = "Make an invitation to a private grid: one line to paste on another machine",
                .details = "Whoever shows it first gets in, so hand it on like a password. The peer that made it, or another holder of the "
                           "key at the addresses in it, has to be up when it is used.",
                .examples = {"godwit grid invite lab", "godwit grid invite lab --uses 20 --expires 2h",
                             "godwit grid invite lab --admin --address grid.example.org:7400"}});
  command.add_argument("grid", options->grid, "Name of the grid");
  command.add_number("--uses", options->uses, "How many machines may come with it (default: 1)", "N");
  command.add_option("--expires", options->expires, "How long it is good (default: 7d)", "TIME");
  command.add_flag("--admin", options->admin,
                   "Hand out the key of the grid, too: whoever comes can invite and revoke, and cannot be revoked for good");
  command.add_repeatable("--address", options->addresses, "Where to ask (default: where this peer is reached)", "HOST:PORT");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return invite(*options, invocation); });
}

void add_grid_join(CommandTree& tree, Command& parent) {
  auto options = std::make_shared<JoinOptions>();
  Command& command =
      tree.add(parent, "join",
               {.summary = "Be in one more grid",
                .details = "With an invitation in a private one, with a name in an open one. The daemon need not be restarted, and "
                           "remembers it.",
                .examples = {"godwit grid join godwit:ahveu3dd4kofecv66vih...", "godwit grid join physics",
                             "godwit grid join godwit:ahveu3dd4kofecv66vih... --as work"}});
  command.add_argument("what", options->what, "An invitation, or the name of an open grid");
  command.add_option("--as", options->as, "What the grid is called on this machine (default: as who invites calls it)", "NAME");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return join(*options, invocation); });
}

void add_grid_leave(CommandTree& tree, Command& parent) {
  auto name = std::make_shared<std::string>();
  Command& command =
      tree.add(parent, "leave",
               {.summary = "Be in a grid no more",
                .details = "Not while jobs of this peer run there. The membership of a private grid is thrown away, and its key, if this "
                           "peer holds it: if nobody else does, nobody can be invited any more.",
                .examples = {"godwit grid leave physics", "godwit grid leave lab -o json"}});
  command.add_argument("grid", *name, "Name of the grid");
  tree.add_setting(command, Key::socket);
  command.on_selected([name](Invocation& invocation) { return leave(*name, invocation); });
}

void add_grid_revoke(CommandTree& tree, Command& parent) {
  auto options = std::make_shared<RevokeOptions>();
  Command& command =
      tree.add(parent, "revoke",
               {.summary = "Take back invitations, or throw members out",
                .details = "A revoked invitation lets nobody in, and all who came with it are members no more. Members that are up hear of "
                           "it within seconds and end their connections to whoever was thrown out.",
                .examples = {"godwit grid revoke lab 5f0c1a2b3c4d0000", "godwit grid revoke lab 8c2e11d0"}});
  command.add_argument("grid", options->grid, "Name of the grid");
  command.add_arguments("whom", options->whom,
                        "Serials of invitations or memberships, or ids of peers; 'godwit grid list GRID' shows them");
  tree.add_setting(command, Key::socket);
  command.on_selected([options](Invocation& invocation) { return revoke(*options, invocation); });
}

}  // namespace

void add_grid_commands(CommandTree& tree) {
  Command& grid = tree.add(
      tree.root(), "grid",
      {.summary = "Make, join and leave grids; invite others",
       .details = "A grid is a set of peers that run each other's jobs. An open one is for whoever knows its name, a private one for "
                  "those who were invited.",
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
