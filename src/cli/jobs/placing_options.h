#pragma once
// The options of `run` and `map` that say which machines a job needs, where it runs, what it does without them, and how long it may
// last.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_tree.h"
#include "job/placing/capacity.h"
#include "job/placing/placing_names.h"

namespace gw::cli {

// As the user wrote them.
struct PlacingOptions {
  std::string need;
  std::string place;
  std::optional<std::uint32_t> min_workers;
  std::string on_failure;
  std::string job_time;
};

// The same, read: as in pb::Manifest::Policy.
struct JobPlacing {
  job::Requirements needs;
  job::Placing place = wire::pb::Manifest::Policy::NEAR;
  std::uint32_t min_slots = 0;
  job::OnFailure on_failure = wire::pb::Manifest::Policy::REPLACE;
  std::chrono::milliseconds job_time{0};
};

void add_placing_options(Command& command, PlacingOptions& options);

// Kind::invalid, naming the option and what to write instead.
Result<JobPlacing> to_placing(const PlacingOptions& options);
Status check_min_workers(const PlacingOptions& options, std::optional<std::uint32_t> workers);
// Options that mean a job, without what makes one (`needed`).
Status check_no_placing_options(const PlacingOptions& options, std::string_view needed);

void write(const JobPlacing& placing, wire::pb::Manifest::Policy& policy);

}  // namespace gw::cli
