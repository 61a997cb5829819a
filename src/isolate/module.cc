#include "isolate/module.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>

namespace gw::isolate {
namespace {

constexpr std::string_view kRewindSuffix = "$rewind";

std::string demangled(const std::string& name) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(text.get()) : name;
}

}  // namespace

std::string Module::function_name(std::uint32_t index) const {
  auto found = function_names_.find(index);
  if (found == function_names_.end() || found->second.empty()) return fmt::format("function[{}]", index);
  std::string name = found->second;
  if (name.ends_with(kRewindSuffix)) name.resize(name.size() - kRewindSuffix.size());
  return demangled(name);
}

}  // namespace gw::isolate
