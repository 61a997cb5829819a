#pragma once
// Signs of the owner of this machine: input, load of programs, battery.

#include <chrono>
#include <filesystem>
#include <optional>

namespace gw::os {

// Reads what the kernel shows to every user: when terminals and input devices were read last, how much time the processors spent on
// programs of normal priority, and whether a battery discharges. Programs of lower priority (nice), such as workers, are no sign of the
// owner. Reads files; takes about 0.1 ms. Belongs to one thread.
class OwnerActivity {
 public:
  struct Config {  // where the files are; tests have others
    std::filesystem::path proc = "/proc";
    std::filesystem::path dev = "/dev";
    std::filesystem::path power = "/sys/class/power_supply";
  };
  struct Sample {
    std::optional<std::chrono::seconds> input_idle;  // since the last input; none: no device shows it
    double busy = 0;                                 // processors that programs of normal priority kept busy since the last sample
    bool on_battery = false;
  };

  OwnerActivity() : OwnerActivity(Config()) {}
  explicit OwnerActivity(Config config) : config_(std::move(config)) {}

  // `own`: processor time that this daemon, and workers of normal priority, have used so far: it is not the owner's.
  Sample read(std::chrono::system_clock::time_point wall, std::chrono::nanoseconds now, std::chrono::nanoseconds own);

 private:
  std::optional<std::chrono::seconds> input_idle(std::chrono::system_clock::time_point wall) const;
  double busy(std::chrono::nanoseconds now, std::chrono::nanoseconds own);
  bool on_battery() const;

  struct Last {
    std::chrono::nanoseconds at, processors, own;
  };
  const Config config_;
  std::optional<Last> last_;
};

}  // namespace gw::os
