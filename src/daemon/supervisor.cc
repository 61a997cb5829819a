#include "daemon/supervisor.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdlib>

#include "os/files/io.h"

namespace gw::daemon {

void report_ready(const std::string& status, os::UniqueFd ready) {
  ::sd_notify(0, fmt::format("READY=1\nSTATUS={}", status).c_str());
  if (ready) (void)os::write_fully(ready.get(), as_bytes("ready\n"));  // the starter may have closed its end
}

void report_stopping() { ::sd_notify(0, "STOPPING=1"); }

// Compares as systemd.exec(5) says: the variable stays set after a redirection, so it must name exactly the file behind stderr.
bool stderr_is_journal() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat status{};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

}  // namespace gw::daemon
