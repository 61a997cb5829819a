#include "cli/jobs/named_files.h"

#include <fmt/core.h>

#include <algorithm>

namespace gw::cli {
namespace {

namespace fs = std::filesystem;
using SpecMounts = google::protobuf::RepeatedPtrField<wire::pb::JobSpec::Mount>;

// Replaces the mounts that were named. The rest is listed, one line each.
Status replace_mounts(const std::vector<Mount>& named, std::string_view option, bool allow, SpecMounts& mounts, std::string& unnamed) {
  for (const Mount& mount : named) {
    wire::pb::JobSpec::Mount chosen = to_spec(mount);
    const auto same = std::ranges::find(mounts, chosen.guest(), &wire::pb::JobSpec::Mount::guest);
    if (same == mounts.end())
      return fail(Kind::invalid, "{} {}: the program was started without {}: name a file that it has, with HOST:GUEST", option,
                  mount.host.string(), mount.guest);
    *same = std::move(chosen);
  }
  for (const wire::pb::JobSpec::Mount& mount : mounts) {
    const bool given = std::ranges::any_of(named, [&](const Mount& one) { return one.guest.substr(1) == mount.guest(); });
    if (given || (allow && !mount.host().empty())) continue;
    unnamed += fmt::format("\n  {} {}:/{}", option, mount.host().empty() ? "HOST" : mount.host(), mount.guest());
  }
  return ok();
}

}  // namespace

wire::pb::JobSpec::Mount to_spec(const Mount& mount) {
  wire::pb::JobSpec::Mount out;
  const auto host = fs::absolute(mount.host).lexically_normal();
  out.set_host((host.has_filename() ? host : host.parent_path()).string());
  out.set_guest(mount.guest.substr(1));
  return out;
}

bool names_files(const wire::pb::JobSpec& spec) { return !spec.inputs().empty() || !spec.outputs().empty() || !spec.input_file().empty(); }

Status use_named_files(const NamedFiles& named, const std::string& file, wire::pb::JobSpec& spec) {
  GW_TRY(const Mounts mounts, check_mounts(named.inputs, named.outputs));
  std::string unnamed;
  GW_TRY_VOID(replace_mounts(mounts.inputs, "--input", named.allow_files, *spec.mutable_inputs(), unnamed));
  GW_TRY_VOID(replace_mounts(mounts.outputs, "--output", named.allow_files, *spec.mutable_outputs(), unnamed));
  if (!named.stdin_file.empty()) {
    spec.set_input_file(fs::absolute(named.stdin_file).lexically_normal().string());
  } else if (!spec.input_file().empty() && !named.allow_files) {
    unnamed += fmt::format("\n  --stdin {}", spec.input_file());
  }
  if (unnamed.empty()) return ok();
  return fail(Kind::invalid,
              "{} names files of this machine that the program would read and write. Name them yourself, or allow the paths it names with "
              "--allow-files:{}",
              file, unnamed);
}

}  // namespace gw::cli
