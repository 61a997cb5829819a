#include "job/lending/lending.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/planted_bug.h"
#include "wire/image/image_tree.h"
#include "wire/messages/limits.h"

namespace gw::job {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kMebibyte = 1u << 20;

bool is_in(const LendingTimes::Hours& hours, std::uint32_t minute) {
  if (hours.from < hours.to) return minute >= hours.from && minute < hours.to;
  return minute >= hours.from || minute < hours.to;
}

// `asked` 0: the job sets no limit, so it may use any amount.
std::optional<std::string> over(std::uint64_t asked, std::uint64_t limit, std::string_view unit, std::string_view option) {
  if (limit == 0 || (asked > 0 && asked <= limit)) return std::nullopt;
  return fmt::format("it allows jobs of other users {} {}, and this job may use {}: set {}", limit, unit,
                     asked == 0 ? "any amount" : std::to_string(asked), option);
}

}  // namespace

void Lending::set_rules(LendingRules rules, Time idle_after) {
  config_.rules = std::move(rules);
  config_.idle_after = idle_after;
}

std::optional<std::string> Lending::closed() const {
  if (!workers_fail_.empty()) return fmt::format("its workers cannot start: {}", workers_fail_);
  return closed_by_owner();
}

std::optional<std::string> Lending::closed_by_owner() const {
  const LendingTimes& when = config_.rules.when;
  if (when.always()) return std::nullopt;
  if (!conditions_.known) return "its owner's rules say when it lends, and it does not know yet whether they allow it now";
  if (!when.hours.empty() &&
      std::ranges::none_of(when.hours, [&](const LendingTimes::Hours& one) { return is_in(one, conditions_.minute_of_day); })) {
    LendingTimes hours;
    hours.hours = when.hours;
    return fmt::format("it lends at {} only", hours.text());
  }
  if (when.plugged_in && conditions_.on_battery) return "it runs on battery, and lends only while it is plugged in";
  if (when.idle && conditions_.owner_idle < config_.idle_after && !GW_BUG(161))
    return "its owner uses it, and it lends only while it is idle";
  return std::nullopt;
}

std::optional<std::string> Lending::refusal(const LendingAsker& asker) const {
  const LendingRules& rules = config_.rules;
  if (asker.home == self_) return workers_fail_.empty() ? std::nullopt : closed();
  const auto named_in = [&](const std::set<ConsumerName>& names) {
    return names.contains(asker.submitter) || names.contains(asker.home.hash);
  };
  if (named_in(rules.blocked)) return "its owner has blocked this user or peer";
  const LendingAudience& audience = rules.audience;
  const bool in_audience =
      audience.anyone || (audience.mine && (is_owner(asker) || asker.private_grid)) || audience.grids.contains(asker.grid);
  if (!in_audience && !named_in(rules.allowed)) {
    if (audience.grids.empty()) return "it lends only to jobs of its owner and to its private grids";
    return fmt::format("it lends only to {}", audience.text());
  }
  return closed();
}

std::optional<std::string> Lending::excess(const LendingAsker& asker, const Manifest& manifest) const {
  if (is_owner(asker)) return std::nullopt;
  const wire::pb::Limits& limits = manifest.content().policy().limits();
  const LendingRules& rules = config_.rules;
  const auto mebibytes = [](std::uint64_t bytes) { return (bytes + kMebibyte - 1) / kMebibyte; };
  if (auto why = over(mebibytes(wire::effective_memory_pages(limits) * wire::kPageBytes), mebibytes(rules.stranger_memory_bytes),
                      "MiB of memory", "--memory"))
    return why;
  if (auto why = over(limits.cpu_time_ns() / kSecondNs, rules.stranger_cpu_seconds, "s of CPU time", "--time-limit")) return why;
  if (auto why = over(mebibytes(wire::effective_file_bytes(limits)), mebibytes(rules.stranger_disk_bytes), "MiB of files", "--memory"))
    return why;
  return over(manifest.content().policy().slots(), rules.stranger_threads, "threads at once", "--workers");
}

std::uint32_t Lending::weight_of(const ConsumerName& submitter) const {
  const auto found = config_.rules.weights.find(submitter);
  return found == config_.rules.weights.end() ? 1 : found->second;
}

}  // namespace gw::job
