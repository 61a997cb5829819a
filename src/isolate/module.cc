#include "isolate/module.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>

namespace gw::isolate {
namespace {

constexpr std::string_view kRewindSuffix = "$rewind";

// Names of C functions stay: "f" would become float.
std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(text.get()) : name;
}

}  // namespace

const Hash256& Module::hash() const {
  std::call_once(hashed_, [this] { hash_ = sha256(wasm_); });
  return hash_;
}

std::string Module::function_name(std::uint32_t index) const {
  // Damaged names are as good as none.
  auto names = wire::read_function_names(wasm_);
  std::string name = names && names->contains(index) ? names->at(index) : "";
  if (name.empty()) return fmt::format("function[{}]", index);
  if (name.ends_with(kRewindSuffix)) name.resize(name.size() - kRewindSuffix.size());
  return demangled(name);
}

}  // namespace gw::isolate
