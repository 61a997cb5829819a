#include "daemon/log_output.h"

#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <memory>

#include "base/log_sink.h"
#include "daemon/supervisor.h"
#include "os/clock.h"
#include "os/files/io.h"
#include "os/files/log_file.h"
#include "os/files/user_folders.h"

namespace gw::daemon {
namespace {

std::string_view journal_prefix(log::Level level) {
  switch (level) {
    case log::Level::debug:
      return SD_DEBUG;
    case log::Level::info:
      return SD_INFO;
    case log::Level::warn:
      return SD_WARNING;
    case log::Level::error:
      return SD_ERR;
  }
  return SD_INFO;
}

std::string with_time(std::string_view line) { return fmt::format("{} {}", os::timestamp(os::wall_now()), line); }

}  // namespace

Status choose_log(const std::filesystem::path& file) {
  if (!file.empty()) {
    GW_TRY_VOID(os::make_private_folder(file.parent_path()));
    GW_TRY(os::LogFile opened, os::LogFile::open(file, {}));
    const auto log = std::make_shared<os::LogFile>(std::move(opened));
    log::set_sink([log](log::Level, std::string_view line) { log->write(with_time(line)); });
  } else if (stderr_is_journal()) {
    log::set_sink([](log::Level level, std::string_view line) {
      (void)os::write_fully(STDERR_FILENO, as_bytes(fmt::format("{}{}", journal_prefix(level), line)));
    });
  } else {
    log::set_sink([](log::Level, std::string_view line) { (void)os::write_fully(STDERR_FILENO, as_bytes(with_time(line))); });
  }
  return ok();
}

}  // namespace gw::daemon
