// A typical larger C++ program: regular expressions, streams, maps, variants, polymorphic objects, sorting, function objects.
//
// Its module is about 300 KB; the time to pre-process, compile and load it is measured, its speed is not.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "../kernel.h"

namespace {

// A log of orders, written as text and parsed back with a regular expression.
std::string write_log(std::uint32_t orders, std::mt19937& random) {
  std::ostringstream log;
  for (std::uint32_t i = 0; i < orders; i++) {
    log << "order-" << std::setw(5) << std::setfill('0') << i << " item" << random() % 300 << " x" << 1 + random() % 9 << '\n';
  }
  return log.str();
}

struct Totals {
  std::map<std::string, std::uint64_t> by_item;
  std::unordered_map<std::uint64_t, std::uint32_t> orders_of_amount;
};

Totals read_log(const std::string& text) {
  const std::regex line_pattern("order-([0-9]+) (item[0-9]+) x([0-9]+)");
  Totals totals;
  std::istringstream log(text);
  std::smatch parts;
  for (std::string line; std::getline(log, line);) {
    if (!std::regex_match(line, parts, line_pattern)) continue;
    const std::uint64_t amount = std::stoul(parts[3].str());
    totals.by_item[parts[2].str()] += amount;
    totals.orders_of_amount[amount]++;
  }
  return totals;
}

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};

struct Square : Shape {
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  double side;
};

struct Disc : Shape {
  explicit Disc(double radius) : radius(radius) {}
  double area() const override { return 3.14159 * radius * radius; }
  double radius;
};

double sum_of_areas(std::uint32_t count) {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (std::uint32_t i = 0; i < count; i++) {
    if (i % 2 == 0) {
      shapes.push_back(std::make_unique<Square>(i));
    } else {
      shapes.push_back(std::make_unique<Disc>(i));
    }
  }
  std::stable_sort(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) { return a->area() < b->area(); });
  return std::accumulate(shapes.begin(), shapes.end(), 0.0, [](double sum, const auto& shape) { return sum + shape->area(); });
}

using Value = std::variant<std::uint64_t, double, std::string>;

std::optional<Value> look_up(const std::map<std::string, std::function<Value()>>& facts, const std::string& name) {
  const auto found = facts.find(name);
  if (found == facts.end()) return std::nullopt;
  return found->second();
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t orders = kernel_size(argc, argv, 3000);
  std::mt19937 random(42);
  const Totals totals = read_log(write_log(orders, random));
  const std::map<std::string, std::function<Value()>> facts = {
      {"area", [&] { return Value(sum_of_areas(orders)); }},
      {"amounts", [&] { return Value(static_cast<std::uint64_t>(totals.orders_of_amount.size())); }},
      {"first", [&] { return Value(totals.by_item.begin()->first); }},
  };
  std::cout << "library_tour " << totals.by_item.size() << std::fixed << std::setprecision(3);
  for (const std::string name : {"amounts", "area", "first", "missing"}) {
    const std::optional<Value> value = look_up(facts, name);
    std::cout << ' ' << name << '=';
    if (value) {
      std::visit([](const auto& content) { std::cout << content; }, *value);
    } else {
      std::cout << "none";
    }
  }
  std::cout << std::endl;
  return 0;
}
