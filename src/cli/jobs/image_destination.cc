#include "cli/jobs/image_destination.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "os/files/io.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxNumber = 9999;

Status check_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code failure;
  if (!fs::is_directory(folder, failure))
    return fail(Kind::not_found, "--image {}: the folder {} does not exist: create it first", file.string(), folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail(Kind::invalid, "--image {}: the folder {} cannot be written: {}", file.string(), folder.string(), os::reason(errno));
  if (fs::is_directory(file, failure)) return fail(Kind::invalid, "--image {}: this is a folder: name a file", file.string());
  return ok();
}

// "nbody" of "examples/nbody.c", "nbody.gwi" and "nbody-2.gwi".
std::string stem_of(const fs::path& program) {
  std::string stem = program.stem().string();
  const std::size_t dash = stem.rfind('-');
  const bool numbered = program.extension() == ".gwi" && dash != std::string::npos && dash > 0 && dash + 1 < stem.size() &&
                        stem.find_first_not_of("0123456789", dash + 1) == std::string::npos;
  return numbered ? stem.substr(0, dash) : stem;
}

Error no_free_name(const fs::path& file) {
  return fail(Kind::invalid, "there are too many images called {}: remove some, or name one with --image", file.string());
}

}  // namespace

Result<ImageDestination> ImageDestination::make(const std::string& named, const fs::path& program) {
  if (named.empty()) return ImageDestination(stem_of(program) + ".gwi", false);
  GW_TRY_VOID(check_folder(named));
  return ImageDestination(named, true);
}

fs::path ImageDestination::numbered(int number) const {
  if (number == 1) return file_;
  return fmt::format("{}-{}.gwi", file_.stem().string(), number);
}

fs::path ImageDestination::temporary() const { return named_ ? file_ : fs::path(fmt::format(".{}.{}", file_.string(), ::getpid())); }

Result<fs::path> ImageDestination::rename_temporary() const {
  if (named_) return file_;
  for (int number = 1; number <= kMaxNumber; ++number) {
    const fs::path numbered_file = numbered(number);
    if (::renameat2(AT_FDCWD, temporary().c_str(), AT_FDCWD, numbered_file.c_str(), RENAME_NOREPLACE) == 0) return numbered_file;
    if (errno != EEXIST) return fail(Kind::internal, "cannot put the image into {}: {}", numbered_file.string(), os::reason(errno));
  }
  return no_free_name(file_);
}

Result<fs::path> ImageDestination::for_job_file() const {
  std::error_code failure;
  if (named_) {
    if (fs::exists(file_, failure))
      return fail(Kind::invalid, "--image {}: the file exists, and a job file never replaces one: 'godwit resume {}' continues it",
                  file_.string(), file_.string());
    return file_;
  }
  for (int number = 1; number <= kMaxNumber; ++number)
    if (!fs::exists(numbered(number), failure)) return numbered(number);
  return no_free_name(file_);
}

}  // namespace gw::cli
