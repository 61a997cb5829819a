#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gw::bench {

void Report::add(std::string name, double value, std::string unit, std::string reference) {
  metrics.push_back({std::move(name), value, std::move(unit), std::move(reference)});
}

std::string to_json(const Report& report) {
  nlohmann::ordered_json metrics = nlohmann::ordered_json::array();
  for (const Metric& metric : report.metrics) {
    metrics.push_back({{"name", metric.name}, {"value", metric.value}, {"unit", metric.unit}, {"reference", metric.reference}});
  }
  return nlohmann::ordered_json{{"suite", report.suite}, {"metrics", metrics}}.dump(2) + "\n";
}

std::string to_table(const Report& report) {
  std::size_t width = 0;
  for (const Metric& metric : report.metrics) width = std::max(width, metric.name.size());
  std::string table;
  for (const Metric& metric : report.metrics) {
    table += fmt::format("{:<{}} {:>10.3f} {:<6} {}\n", metric.name, width, metric.value, metric.unit, metric.reference);
  }
  return table;
}

}  // namespace gw::bench
