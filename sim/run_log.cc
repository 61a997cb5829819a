#include "run_log.h"

#include <fmt/format.h>

#include <cstdio>

namespace gw::sim {

void RunLog::trace(std::size_t node, std::string_view what, std::string_view detail) {
  constexpr std::uint64_t kFnvPrime = 1099511628211u;
  const auto fold = [&](std::uint64_t word) { outcome_.trace = (outcome_.trace ^ word) * kFnvPrime; };
  fold(static_cast<std::uint64_t>(timeline_.now().count()));
  fold(node);
  for (const char c : what) fold(static_cast<std::uint8_t>(c));
  for (const char c : detail) fold(static_cast<std::uint8_t>(c));
  if (trace_ == Trace::printed) fmt::print("{:12.6f} peer {} {}\n", in_seconds(timeline_.now()), node, what);
}

void RunLog::remark(std::size_t node, std::string_view what) const {
  if (is_printed()) fmt::print("{:12.6f} peer {} {}\n", in_seconds(timeline_.now()), node, what);
}

void RunLog::complain(Verdict verdict, const std::string& complaint) {
  if (complaint.empty() || !good()) return;
  outcome_.verdict = verdict;
  outcome_.complaint = fmt::format("at {:.3f} s: {}", in_seconds(timeline_.now()), complaint);
}

}  // namespace gw::sim
