#include "overlay/requests.h"

#include <cmath>

namespace gw::sim::overlay_simulation {

std::uint64_t on_ring(const Hash256& hash) {
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word = (word << 8) | hash.bytes[i];
  return word;
}

const Requests::Request* Requests::find(std::uint32_t host, std::uint64_t number) const {
  const auto found = open_.find({host, number});
  return found == open_.end() ? nullptr : &found->second;
}

void Requests::close(std::uint32_t host, std::uint64_t number, Answer answer, std::uint32_t hops) {
  if (open_.erase({host, number}) == 0) return;
  ++answers_[static_cast<int>(answer)];
  if (answer != Answer::none) hops_ += hops;
}

void Requests::forget(std::uint32_t host) { open_.erase(open_.lower_bound({host, 0}), open_.lower_bound({host + 1, 0})); }

void Requests::report(Figures& figures) const {
  const auto [right, wrong, none] = answers_;
  const std::uint64_t answered = right + wrong;
  if (answered + none == 0) return;
  figures["requests"] = static_cast<double>(answered + none);
  figures["right_answers"] = static_cast<double>(right) / static_cast<double>(answered + none);
  figures["wrong_answers"] = static_cast<double>(wrong) / static_cast<double>(answered + none);
  figures["hops"] = answered == 0 ? 0 : static_cast<double>(hops_) / static_cast<double>(answered);
}

}  // namespace gw::sim::overlay_simulation
