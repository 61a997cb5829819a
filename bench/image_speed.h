#pragma once
// The time to save an isolate and to restore it.

#include "guest_run.h"
#include "report.h"

namespace gw::bench {

// Builds first, measures later, as KernelSpeed.
class ImageSpeed {
 public:
  static Result<ImageSpeed> build();

  // Full save and restore of 16 and 256 MiB that do not repeat, and the save of the hundredth part that has changed.
  Status measure(GuestRunner& runner, Report& report) const;

 private:
  ImageSpeed() = default;

  Bytes memory_probe_;
};

}  // namespace gw::bench
