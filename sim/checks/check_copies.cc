#include <fmt/format.h>

#include <algorithm>

#include "checks/checkers.h"

namespace gw::sim {

void CopiesChecker::on_sent(const wire::pb::JobMessage& message, const std::vector<std::string>& inputs) {
  if (std::ranges::find(inputs, message.blob().bytes()) != inputs.end()) ++chunks_;
}

Complaint CopiesChecker::check(std::size_t chunks) const {
  constexpr std::size_t kCopies = 2;
  if (chunks_ <= kCopies * chunks) return "";
  return fmt::format("homes sent {} chunks of inputs, and have {}: {} copies of each are enough", chunks_, chunks, kCopies);
}

}  // namespace gw::sim
