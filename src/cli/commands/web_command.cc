#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/console/quantity.h"
#include "cli/console/table.h"
#include "gateway/client.h"
#include "os/files/file.h"
#include "os/process/child_process.h"

namespace gw::cli {
namespace {

using gateway::Client;
using gateway::Scope;
using gateway::WebTokenView;

// The first digits of an id, as the commands show it and take it.
std::string brief(const WebTokenView& token) { return token.id.hex().substr(0, 8); }

std::string age_text(std::uint64_t second) {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  return human_duration(std::max(now - std::chrono::seconds(second), std::chrono::seconds(0))) + " ago";
}

Result<int> print_link(Scope scope, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const gateway::WebLink made, client.add_web_token(scope));
  const std::string text = fmt::format("{}\n\nWhoever has this link may {}. Revoke it with: godwit web revoke {}\n", made.link,
                                       scope == Scope::manage ? "watch and manage this daemon" : "watch this daemon, and change nothing",
                                       made.id.hex().substr(0, 8));
  invocation.console.print(
      {"godwit.web.link/1", {{"id", made.id.hex()}, {"scope", gateway::name(scope)}, {"link", made.link}}, text, made.link});
  return 0;
}

// The program of the desktop that opens files, which goes on after this command.
Status start_browser(const std::string& address) {
  const std::filesystem::path program = "/usr/bin/xdg-open";
  std::error_code failure;
  if (!std::filesystem::exists(program, failure)) return fail(Kind::not_found, "{} is missing", program.string());
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  const os::UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  GW_TRY(os::ChildProcess child, os::ChildProcess::start({.argv = {program.string(), address},
                                                          .env = std::move(environment),
                                                          .descriptors = {{null.get(), 0}, {null.get(), 1}, {null.get(), 2}}}));
  child.leave();
  return ok();
}

// A browser gets the link by a file that only this user may read: its command line would show the token to every user.
Result<int> open_page(Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const node::NodeView node, client.node());
  GW_TRY(const gateway::WebLink made, client.add_web_token(Scope::manage));
  const std::filesystem::path file = std::filesystem::path(node.state) / "dashboard.html";
  const std::string page = fmt::format(
      "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url={}\"><title>Godwit</title><a href=\"{}\">Open the "
      "dashboard</a>\n",
      made.link, made.link);
  std::error_code none_there;
  std::filesystem::remove(file, none_there);  // of the last time
  GW_TRY_VOID(os::create_private_file(file, as_bytes(page)));
  const Status started = start_browser("file://" + file.string());
  const std::string note =
      started ? "A browser opens it." : "No browser was started, because /usr/bin/xdg-open is missing: open the link yourself.";
  invocation.console.print({"godwit.web.open/1",
                            {{"link", made.link}, {"opened", static_cast<bool>(started)}},
                            fmt::format("{}\n\n{}\n", made.link, note),
                            made.link});
  return 0;
}

Result<int> list_tokens(Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const auto tokens, client.web_tokens());
  Table table({{.heading = "TOKEN"}, {.heading = "MAY"}, {.heading = "MADE"}, {.heading = "USED"}});
  Json list = Json::array();
  std::string ids;
  for (const WebTokenView& token : tokens) {
    table.add_row({brief(token), std::string(gateway::name(token.scope)), age_text(token.created_at), age_text(token.used_at)});
    list.push_back(
        {{"id", token.id.hex()}, {"scope", gateway::name(token.scope)}, {"created_at", token.created_at}, {"used_at", token.used_at}});
    ids += token.id.hex() + "\n";
  }
  const std::string none = "There is no token. Make one with: godwit web link\n";
  invocation.console.print(
      {"godwit.web.tokens/1", {{"tokens", list}}, tokens.empty() ? none : table.render(invocation.console.out()), ids});
  return 0;
}

Result<int> revoke_tokens(const std::vector<std::string>& whom, Invocation& invocation) {
  Client client(invocation.settings.socket());
  GW_TRY(const auto tokens, client.web_tokens());
  Json ids = Json::array();
  std::string lines;
  const bool all = std::ranges::find(whom, "all") != whom.end();
  for (const std::string& start : all ? std::vector<std::string>{""} : whom) {
    std::size_t found = 0;
    for (const WebTokenView& token : tokens) {
      if (!token.id.hex().starts_with(start)) continue;
      if (++found > 1 && !all) return fail(Kind::invalid, "'{}' matches several tokens: give more digits", start);
    }
    if (found == 0 && !all) return fail(Kind::not_found, "there is no token '{}': list them with 'godwit web tokens'", start);
    for (const WebTokenView& token : tokens) {
      if (!token.id.hex().starts_with(start)) continue;
      GW_TRY_VOID(client.revoke_web_token(token.id));
      ids.push_back(token.id.hex());
      lines += fmt::format("Revoked {}.\n", brief(token));
    }
  }
  invocation.console.print({"godwit.web.revoke/1", {{"ids", ids}}, lines.empty() ? "There was no token.\n" : lines, ""});
  return 0;
}

}  // namespace

void add_web_commands(CommandTree& tree) {
  Command& web = tree.add(tree.root(), "web",
                          {.summary = "Open the dashboard, and say who may",
                           .details = "The dashboard shows jobs, peers and this machine in a browser. A daemon serves it if it was started "
                                      "with 'godwit up --web', to browsers of the same machine. Whoever has a link to it, with its token, "
                                      "may use it, until the token is revoked or was unused for 30 days.",
                           .examples = {"godwit web open", "godwit web link --scope watch", "godwit web tokens"}});
  web.require_subcommand();
  Command& open = tree.add(web, "open",
                           {.summary = "Open the dashboard in a browser",
                            .details = "Makes a link that may manage this daemon, prints it and opens it in the browser of the desktop.",
                            .examples = {"godwit web open", "godwit web open -o quiet"}});
  tree.add_setting(open, Key::socket);
  open.on_selected([](Invocation& invocation) { return open_page(invocation); });

  auto scope = std::make_shared<std::string>("manage");
  Command& link = tree.add(
      web, "link",
      {.summary = "Print a link to the dashboard, with a new token",
       .details = "With --scope watch, the link shows everything and changes nothing. From another machine, forward the port with ssh "
                  "and open the same link there.",
       .examples = {"godwit web link", "godwit web link --scope watch", "godwit web link -o quiet"}});
  link.add_choice("--scope", *scope, "What the holder of the link may do (default: manage)", "RIGHTS");
  tree.add_setting(link, Key::socket);
  link.on_selected([scope](Invocation& invocation) { return print_link(*gateway::scope_named(*scope), invocation); });

  Command& tokens = tree.add(web, "tokens",
                             {.summary = "List the tokens of the dashboard",
                              .details = "Shows what each may do and when it was used; the tokens themselves are not stored.",
                              .examples = {"godwit web tokens", "godwit web tokens -o json"}});
  tree.add_setting(tokens, Key::socket);
  tokens.on_selected([](Invocation& invocation) { return list_tokens(invocation); });

  auto whom = std::make_shared<std::vector<std::string>>();
  Command& revoke = tree.add(web, "revoke",
                             {.summary = "Revoke tokens of the dashboard",
                              .details = "Requests with a revoked token are refused from now on.",
                              .examples = {"godwit web revoke 5f0c1a2b", "godwit web revoke all"}});
  revoke.add_arguments("token", *whom, "Ids of tokens, or their first digits, as listed by 'godwit web tokens'; 'all'");
  tree.add_setting(revoke, Key::socket);
  revoke.on_selected([whom](Invocation& invocation) { return revoke_tokens(*whom, invocation); });
}

}  // namespace gw::cli
