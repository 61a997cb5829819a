#include "image_speed.h"
#include "suites.h"
#include "suspend_latency.h"

namespace gw::bench {

Result<Report> run_mobility_suite(const SuiteOptions& options) {
  Report report{.suite = "mobility"};
  GW_TRY(const SuspendLatency latency, SuspendLatency::build(options));
  GW_TRY(const ImageSpeed images, ImageSpeed::build());
  GW_TRY(GuestRunner runner, GuestRunner::make());
  GW_TRY_VOID(images.measure(runner, report));
  GW_TRY_VOID(latency.measure(runner, report));
  return report;
}

}  // namespace gw::bench
