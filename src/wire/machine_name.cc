#include "wire/machine_name.h"

#include <algorithm>

namespace gw::wire {
namespace {

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

}  // namespace

bool is_machine_name(std::string_view text) { return text.size() <= kMaxMachineNameBytes && std::ranges::all_of(text, is_name_byte); }

std::string to_machine_name(std::string_view text) {
  std::string name(text.substr(0, kMaxMachineNameBytes));
  std::ranges::replace_if(name, [](char c) { return !is_name_byte(c); }, '-');
  return name;
}

}  // namespace gw::wire
