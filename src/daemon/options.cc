#include "daemon/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>

#include "gateway/web/web_address.h"
#include "os/files/user_folders.h"
#include "tracker/inquiry.h"
#include "wire/grid_name.h"
#include "wire/machine_name.h"

namespace gw::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMaxSlots = 4096;
constexpr int kMaxDescriptor = 1 << 20;
constexpr std::size_t kMaxAddresses = 64;
constexpr std::size_t kMaxGrids = 16;

using Take = std::function<Status(const std::string&)>;

Result<fs::path> default_worker() {
  std::error_code failure;
  const fs::path worker = fs::read_symlink("/proc/self/exe", failure).parent_path() / "godwit-worker";
  if (failure || !fs::exists(worker, failure))
    return fail(Kind::not_found, "{} is missing: install it in the folder of godwit-daemon", worker.string());
  return worker;
}

template <class Number>
Status take_number(const std::string& text, Number most, std::string_view what, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > most || number < 0)
    return fail(Kind::invalid, "'{}' is not a {}: give 0 to {}", text, what, most);
  return ok();
}

Status take_seconds(const std::string& text, std::chrono::seconds& time) {
  std::uint32_t seconds = 0;
  GW_TRY_VOID(take_number(text, std::numeric_limits<std::uint32_t>::max(), "number of seconds", seconds));
  time = std::chrono::seconds(seconds);
  return ok();
}

Status take_address(const std::string& text, std::vector<std::string>& list) {
  if (list.size() >= kMaxAddresses) return fail(Kind::invalid, "too many addresses: the limit is {}", kMaxAddresses);
  list.push_back(text);
  return ok();
}

// An argument of --join: an address, an invitation or a tracker.
Status take_way_in(const std::string& text, Options& options) {
  if (text.starts_with("http://")) {
    GW_TRY(const std::string address, tracker::parse_tracker_url(text));
    return take_address(address, options.trackers);
  }
  if (!wire::looks_like_invitation(text)) return take_address(text, options.join);
  GW_TRY(wire::Invitation invitation, wire::parse_invitation(text));
  if (options.invitations.size() >= kMaxGrids) return fail(Kind::invalid, "too many invitations: the limit is {}", kMaxGrids);
  options.invitations.push_back(std::move(invitation));
  return ok();
}

Status take_grid(const std::string& name, std::vector<std::string>& grids) {
  GW_TRY_VOID(wire::check_grid_name(name));
  if (std::ranges::find(grids, name) != grids.end()) return fail(Kind::invalid, "grid '{}' is given twice", name);
  if (grids.size() >= kMaxGrids) return fail(Kind::invalid, "too many grids: the limit is {}", kMaxGrids);
  grids.push_back(name);
  return ok();
}

Status take_name(const std::string& text, std::string& name) {
  if (text.empty() || !wire::is_machine_name(text))
    return fail(Kind::invalid, "'{}' is not a name for a machine: give 1 to {} letters, digits, dots and dashes", text,
                wire::kMaxMachineNameBytes);
  name = text;
  return ok();
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unnamed";
  return wire::to_machine_name(name.data());
}

std::map<std::string, Take, std::less<>> takers(Options& options) {
  return {
      {"--state", [&](const std::string& text) { return options.state = text, ok(); }},
      {"--socket", [&](const std::string& text) { return options.socket = text, ok(); }},
      {"--worker", [&](const std::string& text) { return options.worker = text, ok(); }},
      {"--listen", [&](const std::string& text) { return take_address(text, options.listen); }},
      {"--join", [&](const std::string& text) { return take_way_in(text, options); }},
      {"--tracker", [&](const std::string& text) { return options.tracker = text, ok(); }},
      {"--grid", [&](const std::string& text) { return take_grid(text, options.grids); }},
      {"--name", [&](const std::string& text) { return take_name(text, options.name); }},
      {"--web",
       [&](const std::string& text) -> Status {
         options.web = text == "auto" ? "" : text;
         return gateway::check_web_address(*options.web);
       }},
      {"--slots", [&](const std::string& text) { return take_number(text, kMaxSlots, "number of slots", options.slots.emplace()); }},
      {"--owner",
       [&](const std::string& text) -> Status {
         GW_TRY(options.owner, parse_hash(text));
         return ok();
       }},
      {"--for", [&](const std::string& text) { return options.audience = text, ok(); }},
      {"--keep-jobs", [&](const std::string& text) { return take_seconds(text, options.keep_for); }},
      {"--keep-output",
       [&](const std::string& text) {
         return take_number(text, std::numeric_limits<std::uint64_t>::max(), "number of bytes", options.keep_bytes);
       }},
      {"--log", [&](const std::string& text) { return options.log = text, ok(); }},
      {"--ready-fd", [&](const std::string& text) { return take_number(text, kMaxDescriptor, "descriptor", options.ready_fd); }},
  };
}

Status fill_in(Options& options) {
  if (options.state.empty()) {
    GW_TRY(options.state, os::state_dir());
  }
  if (options.worker.empty()) {
    GW_TRY(options.worker, default_worker());
  }
  if (options.name.empty()) options.name = host_name();
  if (options.socket.empty()) options.socket = options.state / "socket";
  return ok();
}

}  // namespace

std::string usage() {
  return "usage: godwit-daemon [--state DIR] [--socket PATH] [--listen ADDRESS:PORT]... [--join HOST:PORT|INVITATION|TRACKER]... [--grid "
         "NAME]... [--name NAME] [--slots N] [--owner KEY] [--for WHO] [--keep-jobs SECONDS] [--keep-output BYTES] [--fetch-private] "
         "[--worker PATH] [--tracker ADDRESS:PORT] [--web ADDRESS:PORT|auto] [--no-discovery] [--no-first-grid]"
         " [--log FILE] [--ready-fd N] [--ephemeral]\nNormally started by `godwit up`.\n";
}

Result<Options> parse_options(std::span<const std::string> arguments) {
  Options options;
  const auto known = takers(options);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--ephemeral") {
      options.life = Options::Life::starter;
      continue;
    }
    if (arguments[i] == "--no-first-grid") {
      options.first_grid = Options::FirstGrid::none;
      continue;
    }
    if (arguments[i] == "--fetch-private") {
      options.fetch_private = true;
      continue;
    }
    if (arguments[i] == "--no-discovery") {
      options.discovery = Options::Discovery::off;
      continue;
    }
    const std::size_t equals = arguments[i].find('=');
    const auto found = known.find(arguments[i].substr(0, equals));
    if (found == known.end()) return fail(Kind::invalid, "godwit-daemon has no option '{}'", arguments[i]);
    if (equals == std::string::npos && ++i == arguments.size()) return fail(Kind::invalid, "{} needs a value", found->first);
    GW_TRY_VOID(found->second(equals == std::string::npos ? arguments[i] : arguments[i].substr(equals + 1)));
  }
  GW_TRY_VOID(fill_in(options));
  return options;
}

}  // namespace gw::daemon
