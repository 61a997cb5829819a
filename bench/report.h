#pragma once
// The measurements of a suite, and their presentation.

#include <optional>
#include <string>
#include <vector>

namespace gw::bench {

struct Metric {
  std::string name;
  std::optional<double> value;  // none: it could not be measured, and the reference says why
  std::string unit;             // "ratio", "ms", "s", "us", "ns", "KiB", "count"
  std::string reference;        // what the value is to be compared with
};

// Values beside each other, for a plot.
struct Chart {
  std::string name;  // of its file
  std::string title;
  std::string unit;
  struct Bar {
    std::string label;
    double value = 0;
  };
  std::vector<Bar> bars;
};

struct Report {
  std::string suite;
  std::vector<Metric> metrics;
  std::vector<Chart> charts;

  void add(std::string name, double value, std::string unit, std::string reference);
  void add_missing(std::string name, std::string unit, std::string why);
};

// {"suite", "metrics": [{"name", "value", "unit", "reference"}]}; a value may be null
std::string to_json(const Report& report);

// An aligned line per metric.
std::string to_table(const Report& report);

}  // namespace gw::bench
