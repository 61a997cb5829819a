#pragma once
// The measurements of a suite, and their presentation.

#include <string>
#include <vector>

namespace gw::bench {

struct Metric {
  std::string name;
  double value = 0;
  std::string unit;       // "ratio", "ms", "s", "us", "ns", "KiB", "count"
  std::string reference;  // what the value is to be compared with
};

struct Report {
  std::string suite;
  std::vector<Metric> metrics;

  void add(std::string name, double value, std::string unit, std::string reference);
};

// {"suite", "metrics": [{"name", "value", "unit", "reference"}]}
std::string to_json(const Report& report);

// An aligned line per metric.
std::string to_table(const Report& report);

}  // namespace gw::bench
