#include "os/files/log_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/bytes.h"
#include "os/files/io.h"

namespace gw::os {
namespace {

namespace fs = std::filesystem;

fs::path numbered(const fs::path& path, unsigned number) {
  return number == 0 ? path : fs::path(fmt::format("{}.{}", path.string(), number));
}

}  // namespace

Result<LogFile> LogFile::open(const fs::path& path, const Config& config, Errors errors) {
  LogFile log(path, config, errors);
  GW_TRY_VOID(log.begin());
  return log;
}

Status LogFile::begin() {
  UniqueFd file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return fail(Kind::invalid, "cannot write the log {}: {}", path_.string(), reason(errno));
  struct stat status{};
  size_ = ::fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  if (errors_ == Errors::follow && ::dup2(file.get(), STDERR_FILENO) < 0)
    return fail(Kind::internal, "cannot redirect stderr to {}: {}", path_.string(), reason(errno));
  file_ = std::move(file);
  return ok();
}

void LogFile::write(std::string_view line) {
  if (size_ + line.size() > config_.bytes && size_ > 0) rotate();
  if (write_fully(file_.get(), as_bytes(line))) size_ += line.size();
}

// Where renaming fails the file grows on: a log too long is better than none.
void LogFile::rotate() {
  std::error_code ignored;
  for (unsigned number = config_.kept; number > 0; --number) fs::rename(numbered(path_, number - 1), numbered(path_, number), ignored);
  if (config_.kept == 0) fs::remove(path_, ignored);
  (void)begin();
}

}  // namespace gw::os
