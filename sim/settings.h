#pragma once
// Scenario files: which settings there are, and what they may be.

#include <toml++/toml.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "outcome.h"

namespace gw::sim {

// Kind::invalid with the line if it cannot be parsed.
Result<toml::table> read_toml(const std::filesystem::path& file);
// What a scenario simulates: "overlay", "group", or, if it says nothing, whole peers.
Result<std::string> world_of(const std::filesystem::path& file);

// Fills a struct from a table. An unknown key, or a value out of range, is an error.
template <class Target>
class Settings {
 public:
  using Setter = std::function<bool(Target&, const toml::node&)>;

  Settings& flag(const std::string& name, bool Target::* field) {
    setters_[name] = [=](Target& target, const toml::node& node) {
      const auto value = node.value<bool>();
      if (value) target.*field = *value;
      return value.has_value();
    };
    return *this;
  }

  Settings& count(const std::string& name, std::uint32_t Target::* field, std::int64_t most) {
    setters_[name] = [=](Target& target, const toml::node& node) {
      const auto value = node.value<std::int64_t>();
      if (!value || *value < 1 || *value > most) return false;
      target.*field = static_cast<std::uint32_t>(*value);
      return true;
    };
    return *this;
  }

  Settings& number(const std::string& name, double Target::* field, double most) {
    setters_[name] = [=](Target& target, const toml::node& node) {
      const auto value = node.value<double>();
      if (!value || !(*value >= 0) || *value > most) return false;
      target.*field = *value;
      return true;
    };
    return *this;
  }

  // In multiples of `unit`, at most an hour.
  Settings& time(const std::string& name, Time Target::* field, Time unit) {
    setters_[name] = [=](Target& target, const toml::node& node) {
      const auto value = node.value<std::int64_t>();
      if (!value || *value < 1 || *value > std::chrono::hours(24) / unit) return false;
      target.*field = *value * unit;
      return true;
    };
    return *this;
  }

  Settings& custom(const std::string& name, Setter setter) {
    setters_[name] = std::move(setter);
    return *this;
  }

  Status fill(Target& target, const toml::table& table, const std::filesystem::path& file) const {
    for (const auto& [key, node] : table) {
      const auto found = setters_.find(key.str());
      if (found == setters_.end()) return fail(Kind::invalid, "{}: there is no setting '{}'", file.string(), key.str());
      if (!found->second(target, node)) return fail(Kind::invalid, "{}: '{}' is out of range", file.string(), key.str());
    }
    return {};
  }

 private:
  std::map<std::string, Setter, std::less<>> setters_;
};

}  // namespace gw::sim
