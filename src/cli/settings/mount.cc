#include "cli/settings/mount.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "os/files/io.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxMounts = 1024;
constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxName = 255;

// "/a/b" of "a//./b/"; nothing if ".." is in it.
std::optional<std::string> normal_path(std::string_view path) {
  std::string normal;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(std::min(path.size(), slash + 1));
    if (name == "..") return std::nullopt;
    if (!name.empty() && name != ".") normal.append("/").append(name);
  }
  return normal;
}

Status check_guest_path(std::string_view text, const std::string& guest) {
  if (guest.size() > kMaxPath) return fail(Kind::invalid, "'{}': the path for the program has more than {} bytes", text, kMaxPath);
  for (std::size_t at = 0; at < guest.size();) {
    const std::size_t end = std::min(guest.find('/', at + 1), guest.size());
    if (end - at - 1 > kMaxName) return fail(Kind::invalid, "'{}': a name for the program has more than {} bytes", text, kMaxName);
    at = end;
  }
  return ok();
}

Status check_input(const Mount& mount) {
  std::error_code failure;
  const fs::file_status status = fs::status(mount.host, failure);
  if (!fs::exists(status)) return fail(Kind::not_found, "--input {}: there is no such file or folder", mount.host.string());
  if (!fs::is_regular_file(status) && !fs::is_directory(status))
    return fail(Kind::invalid, "--input {}: not a file or folder", mount.host.string());
  if (::access(mount.host.c_str(), fs::is_directory(status) ? R_OK | X_OK : R_OK) != 0)
    return fail(Kind::invalid, "--input {}: cannot be read: {}", mount.host.string(), os::reason(errno));
  return ok();
}

Status check_output(const Mount& mount) {
  std::error_code failure;
  // Checks the link itself, not its target: the output file replaces the link.
  const fs::file_status status = fs::symlink_status(mount.host, failure);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
    return fail(Kind::invalid, "--output {}: exists and is not a file or folder: choose another name", mount.host.string());
  const fs::path absolute = fs::absolute(mount.host, failure).lexically_normal();
  const fs::path folder = absolute.has_filename() ? absolute.parent_path() : absolute.parent_path().parent_path();
  if (!fs::is_directory(folder, failure))
    return fail(Kind::not_found, "--output {}: the folder {} does not exist: create it first", mount.host.string(), folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail(Kind::invalid, "--output {}: the folder {} cannot be written: {}", mount.host.string(), folder.string(), os::reason(errno));
  return ok();
}

bool is_inside(const std::string& path, const std::string& folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

Status check_apart(const std::vector<Mount>& mounts) {
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    for (std::size_t j = 0; j < mounts.size(); ++j) {
      if (i == j || !is_inside(mounts[i].guest, mounts[j].guest)) continue;
      return fail(Kind::invalid, "{} and {} overlap for the program: give one of them another :GUEST", mounts[i].guest, mounts[j].guest);
    }
  }
  return ok();
}

Result<std::vector<Mount>> parse_all(const std::vector<std::string>& texts, std::string_view option) {
  if (texts.size() > kMaxMounts) return fail(Kind::invalid, "{} is given {} times, more than {}", option, texts.size(), kMaxMounts);
  std::vector<Mount> mounts;
  for (const std::string& text : texts) {
    auto mount = parse_mount(text);
    if (!mount) return fail(Kind::invalid, "{} {}", option, mount.error().detail);
    mounts.push_back(*std::move(mount));
  }
  return mounts;
}

}  // namespace

Result<Mount> parse_mount(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view host = text.substr(0, colon);
  const std::string_view typed = colon == std::string_view::npos ? host : text.substr(colon + 1);
  if (host.empty()) return fail(Kind::invalid, "'{}' names no file: write HOST or HOST:GUEST", text);
  const auto guest = normal_path(typed);
  if (!guest && colon != std::string_view::npos)
    return fail(Kind::invalid, "'{}': the path for the program must not contain '..': write it from the root, like /data", text);
  if (!guest)
    return fail(Kind::invalid, "'{}' contains '..', which the program cannot see: give the program's path with {}:GUEST", text, text);
  if (guest->empty()) return fail(Kind::invalid, "'{}' has no name for the program: give the program's path with {}:GUEST", text, host);
  GW_TRY_VOID(check_guest_path(text, *guest));
  return Mount{host, *guest};
}

bool is_folder(const Mount& mount) {
  std::error_code failure;
  return !mount.host.has_filename() || fs::is_directory(mount.host, failure);
}

Result<Mounts> check_mounts(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  Mounts mounts;
  GW_TRY(mounts.inputs, parse_all(inputs, "--input"));
  GW_TRY(mounts.outputs, parse_all(outputs, "--output"));
  for (const Mount& mount : mounts.inputs) GW_TRY_VOID(check_input(mount));
  for (const Mount& mount : mounts.outputs) GW_TRY_VOID(check_output(mount));
  std::vector<Mount> all = mounts.inputs;
  all.insert(all.end(), mounts.outputs.begin(), mounts.outputs.end());
  GW_TRY_VOID(check_apart(all));
  return mounts;
}

}  // namespace gw::cli
