#include "answers.h"

#include <fmt/core.h>

namespace gw::hostile {
namespace {

constexpr std::size_t kBlobWithoutBytes = 160;  // envelope, two hashes and a flag

}  // namespace

void Answers::add(const std::string& message) {
  const std::string kind = protocol_.kind_of(message);
  ++counts_[kind];
  const bool is_blob = kind == "blob" || kind.ends_with(".blob");
  if (kind.ends_with("image_is") || (is_blob && message.size() > kBlobWithoutBytes)) ++secrets_[kind];
}

void Answers::print() const {
  for (const auto& [kind, count] : counts_) fmt::print("answered by {} {}\n", kind, count);
  for (const auto& [kind, count] : secrets_) fmt::print("told a secret by {} {}\n", kind, count);
}

}  // namespace gw::hostile
