#pragma once
// What the holder of a token may do.

#include <cstdint>
#include <optional>
#include <string_view>

namespace gw::gateway {

// watch: read everything, change nothing. manage: everything.
enum class Scope : std::uint8_t { watch, manage };

constexpr std::string_view name(Scope scope) { return scope == Scope::watch ? "watch" : "manage"; }

constexpr std::optional<Scope> scope_named(std::string_view text) {
  for (const Scope scope : {Scope::watch, Scope::manage})
    if (name(scope) == text) return scope;
  return std::nullopt;
}

}  // namespace gw::gateway
