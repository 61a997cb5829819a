#include "cli/jobs/placing_options.h"

#include <array>
#include <utility>

#include "cli/settings/run_options.h"

namespace gw::cli {
namespace {

constexpr std::string_view kNeed = "--need", kPlace = "--place", kMinWorkers = "--min-workers", kOnFailure = "--on-failure",
                           kJobTime = "--job-time";

// The same result; an error names the option.
template <class Value>
Result<Value> of_option(std::string_view option, Result<Value> parsed) {
  if (parsed) return parsed;
  return fail(Kind::invalid, "{}: {}", option, parsed.error().detail);
}

}  // namespace

void add_placing_options(Command& command, PlacingOptions& options) {
  command.add_option("--need", options.need,
                     "What each worker needs of its machine, such as memory=2G,disk=1G,speed=0.5,arch=x86_64,tag=gpu", "NEEDS");
  command.add_option(
      "--place", options.place,
      "Choose the fastest machines that are near, machines by a hash of the job, or as many different ones as possible: near, "
      "hash or spread (default: near)",
      "PLACE");
  command.add_number("--min-workers", options.min_workers, "Begin when the job has so many workers at once (default: with the first)", "N");
  command.add_option("--on-failure", options.on_failure,
                     "When a machine is lost: replace it, ignore it and go on with fewer, or cancel the job (default: replace)", "POLICY");
  command.add_option("--job-time", options.job_time, "End the job so long after it was accepted (default: never)", "TIME");
}

Result<JobPlacing> to_placing(const PlacingOptions& options) {
  JobPlacing placing;
  if (!options.need.empty()) {
    GW_TRY(placing.needs, of_option(kNeed, job::parse_requirements(options.need)));
  }
  if (!options.place.empty()) {
    GW_TRY(placing.place, of_option(kPlace, job::parse_placing(options.place)));
  }
  if (!options.on_failure.empty()) {
    GW_TRY(placing.on_failure, of_option(kOnFailure, job::parse_on_failure(options.on_failure)));
  }
  if (!options.job_time.empty()) {
    GW_TRY(placing.job_time, parse_option(kJobTime, options.job_time));
    if (placing.job_time.count() == 0) return fail(Kind::invalid, "--job-time: '{}' is too short", options.job_time);
  }
  placing.min_slots = options.min_workers.value_or(0);
  return placing;
}

Status check_min_workers(const PlacingOptions& options, std::optional<std::uint32_t> workers) {
  if (!options.min_workers || !workers || *options.min_workers <= *workers) return ok();
  return fail(Kind::invalid, "--min-workers {} is more than --workers {}: the job would never begin", *options.min_workers, *workers);
}

Status check_no_placing_options(const PlacingOptions& options, std::string_view needed) {
  const std::array<std::pair<std::string_view, bool>, 5> given{{{kNeed, !options.need.empty()},
                                                                {kPlace, !options.place.empty()},
                                                                {kMinWorkers, options.min_workers.has_value()},
                                                                {kOnFailure, !options.on_failure.empty()},
                                                                {kJobTime, !options.job_time.empty()}}};
  for (const auto& [option, there] : given)
    if (there) return fail(Kind::invalid, "{} needs {}: without it the program runs on this machine alone", option, needed);
  return ok();
}

void write(const JobPlacing& placing, wire::pb::Manifest::Policy& policy) {
  if (placing.needs.ByteSizeLong() > 0) *policy.mutable_needs() = placing.needs;
  policy.set_place(placing.place);
  policy.set_min_slots(placing.min_slots);
  policy.set_on_failure(placing.on_failure);
  policy.set_job_time_ns(static_cast<std::uint64_t>(std::chrono::nanoseconds(placing.job_time).count()));
}

}  // namespace gw::cli
