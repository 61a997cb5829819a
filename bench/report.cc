#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gw::bench {

void Report::add(std::string name, double value, std::string unit, std::string reference) {
  metrics.push_back({std::move(name), value, std::move(unit), std::move(reference)});
}

void Report::add_missing(std::string name, std::string unit, std::string why) {
  metrics.push_back({std::move(name), std::nullopt, std::move(unit), std::move(why)});
}

std::string to_json(const Report& report) {
  nlohmann::ordered_json metrics = nlohmann::ordered_json::array();
  for (const Metric& metric : report.metrics) {
    const nlohmann::ordered_json value = metric.value ? nlohmann::ordered_json(*metric.value) : nlohmann::ordered_json();
    metrics.push_back({{"name", metric.name}, {"value", value}, {"unit", metric.unit}, {"reference", metric.reference}});
  }
  return nlohmann::ordered_json{{"suite", report.suite}, {"metrics", metrics}}.dump(2) + "\n";
}

std::string to_table(const Report& report) {
  std::size_t width = 0;
  for (const Metric& metric : report.metrics) width = std::max(width, metric.name.size());
  std::string table;
  for (const Metric& metric : report.metrics) {
    table += fmt::format("{:<{}} {:>10} {:<6} {}\n", metric.name, width, metric.value ? fmt::format("{:.3f}", *metric.value) : "-",
                         metric.unit, metric.reference);
  }
  return table;
}

}  // namespace gw::bench
