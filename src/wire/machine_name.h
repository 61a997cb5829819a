#pragma once
// The names that machines give themselves. People read them beside peer ids; nothing is decided by them.

#include <cstddef>
#include <string>
#include <string_view>

namespace gw::wire {

inline constexpr std::size_t kMaxMachineNameBytes = 32;

// Letters and digits of ASCII, '.', '-' and '_': safe in every table, log and file name. Empty: the machine has none.
bool is_machine_name(std::string_view text);

// The nearest machine name: every other byte becomes '-', and the rest is cut off.
std::string to_machine_name(std::string_view text);

}  // namespace gw::wire
