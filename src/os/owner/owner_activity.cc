#include "os/owner/owner_activity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace gw::os {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;
using std::chrono::seconds;

std::string first_word(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

// Terminals and event devices: the kernel sets the time of access when a program reads input from them.
bool is_input(const fs::path& folder, const std::string& name) {
  const auto numbered = [&](std::string_view prefix) {
    return name.size() > prefix.size() && name.starts_with(prefix) &&
           std::ranges::all_of(name.substr(prefix.size()), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (folder.filename() == "pts") return numbered("");
  return numbered("tty") || numbered("event");
}

}  // namespace

OwnerActivity::Sample OwnerActivity::read(std::chrono::system_clock::time_point wall, nanoseconds now, nanoseconds own) {
  return {.input_idle = input_idle(wall), .busy = busy(now, own), .on_battery = on_battery()};
}

std::optional<seconds> OwnerActivity::input_idle(std::chrono::system_clock::time_point wall) const {
  std::optional<seconds> least;
  for (const fs::path& folder : {config_.dev, config_.dev / "pts", config_.dev / "input"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      struct stat found;
      if (!is_input(folder, entry.path().filename()) || ::stat(entry.path().c_str(), &found) != 0) continue;
      const seconds idle = std::chrono::duration_cast<seconds>(wall.time_since_epoch()) - seconds(found.st_atim.tv_sec);
      if (idle >= seconds(0) && (!least || idle < *least)) least = idle;
    }
  }
  return least;
}

// The line "cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ ..." in ticks.
double OwnerActivity::busy(nanoseconds now, nanoseconds own) {
  std::ifstream in(config_.proc / "stat");
  std::string name;
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0;
  if (!(in >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft) || name != "cpu") return 0;
  const nanoseconds processors((user + system + interrupts + soft) * (1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK))));
  const std::optional<Last> before = std::exchange(last_, Last{now, processors, own});
  if (!before || now <= before->at) return 0;
  const nanoseconds others = processors - before->processors - std::max(own - before->own, nanoseconds(0));
  return std::max(0.0, std::chrono::duration<double>(others) / std::chrono::duration<double>(now - before->at));
}

bool OwnerActivity::on_battery() const {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(config_.power, none))
    if (first_word(entry.path() / "type") == "Battery" && first_word(entry.path() / "scope") != "Device" &&
        first_word(entry.path() / "status") == "Discharging")
      return true;
  return false;
}

}  // namespace gw::os
