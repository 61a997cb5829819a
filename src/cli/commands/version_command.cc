#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "isolate/engine/engine_version.h"
#include "isolate/memory/memory_watch.h"
#include "os/cage/cage_features.h"
#include "wire/image/image.h"
#include "wire/wasm/module_info.h"

namespace gw::cli {
namespace {

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json to_json(const os::CageFeatures& cage) {
  return {{"seccomp", cage.seccomp},
          {"landlock", cage.landlock},
          {"own_user", cage.own_user},
          {"control_group", or_null(cage.control_group)},
          {"no_control_group", or_null(cage.no_control_group)}};
}

std::string to_text(const os::CageFeatures& cage) {
  return fmt::format("{}, {}{}, {}", cage.seccomp ? "seccomp" : "no seccomp",
                     cage.landlock > 0 ? fmt::format("landlock {}", cage.landlock) : "no landlock", cage.own_user ? ", own user id" : "",
                     cage.control_group.empty() ? "no control group" : cage.control_group);
}

Result<int> print_versions(Invocation& invocation) {
  const os::CageFeatures cage = os::find_cage_features();
  const bool tracks = isolate::MemoryWatch().can_track();
  Rows rows;
  rows.add("godwit", "godwit", GODWIT_VERSION)
      .add("engine", "engine", isolate::engine_version())
      .add("abi", "module ABI", wire::kAbiVersion)
      .add("image_format", "image format", wire::kImageVersion)
      .add("cage", "sandbox", to_json(cage), to_text(cage))
      .add("write_tracking", "write tracking", tracks, tracks ? "by userfaultfd" : "by comparing pages");
  invocation.console.print({"godwit.version/1", rows.json(), rows.render(invocation.console.out()), GODWIT_VERSION});
  return 0;
}

}  // namespace

void add_version_command(CommandTree& tree) {
  Command& command = tree.add(tree.root(), "version",
                              {.summary = "Print versions and the sandbox features of this machine",
                               .examples = {"godwit version", "godwit version -o json", "godwit version -o quiet"}});
  command.on_selected(print_versions);
}

}  // namespace gw::cli
