#include "cli/settings/submitter_key.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/hash.h"
#include "cli/settings/settings.h"
#include "os/files/file.h"
#include "os/files/io.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

Status check_permissions(const fs::path& file) {
  struct stat found;
  if (::stat(file.c_str(), &found) != 0) return fail(Kind::not_found, "{} cannot be read: {}", file.string(), os::reason(errno));
  if ((found.st_mode & 077) == 0) return ok();
  return fail(Kind::invalid, "other users can read {}, the key that signs your jobs: run 'chmod 600 {}'", file.string(), file.string());
}

Result<SigningKey> read_key(const fs::path& file) {
  GW_TRY_VOID(check_permissions(file));
  GW_TRY(const Bytes bytes, os::read_file(file, 1024));
  std::string_view text = as_text(bytes);
  while (text.ends_with('\n')) text.remove_suffix(1);
  const auto secret = parse_hash(text);
  if (!secret) return fail(Kind::corrupt, "{} is not a key: restore it from a backup, or remove it to get a new one", file.string());
  return SigningKey(secret->bytes);
}

Result<SigningKey> make_key(const fs::path& file) {
  std::array<std::uint8_t, 32> secret{};
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    return fail(Kind::internal, "the system provides no random numbers: {}", os::reason(errno));
  std::error_code failure;
  fs::create_directories(file.parent_path(), failure);  // whether it is there, writing will show
  GW_TRY_VOID(os::create_private_file(file, as_bytes(hex(secret) + "\n")));
  return read_key(file);  // another command may have been faster: then its key counts
}

}  // namespace

fs::path usual_submitter_key() { return SettingFiles::usual().user.parent_path() / "submitter.key"; }

Result<SigningKey> load_or_make_submitter_key(const fs::path& file) {
  std::error_code unknown;
  return fs::exists(file, unknown) ? read_key(file) : make_key(file);
}

}  // namespace gw::cli
