#include "overlay/distance/size_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gw::overlay {
namespace {

constexpr std::size_t kLeastSamples = 64;

}  // namespace

void SizeEstimate::on_sample(const PeerId& peer) {
  std::uint64_t head;
  std::memcpy(&head, peer.hash.bytes.data(), sizeof head);
  if (seen_.size() < config_.window) {
    seen_.push_back(head);
  } else {
    seen_[next_] = head;
    next_ = (next_ + 1) % seen_.size();
  }
}

std::optional<double> SizeEstimate::occupancy() const {
  if (seen_.size() < kLeastSamples) return std::nullopt;
  std::vector<std::uint64_t> sorted = seen_;
  std::ranges::sort(sorted);
  double different = 0;
  double once = 0;
  double pairs = 0;  // of equal samples, each counted twice
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    const auto times = static_cast<double>(end - i);
    ++different;
    if (end - i == 1) ++once;
    pairs += times * (times - 1);
    i = end;
  }
  const auto samples = static_cast<double>(sorted.size());
  const double coverage = 1 - once / samples;
  if (coverage <= 0) return std::nullopt;
  const double even = different / coverage;
  const double variation = std::max(even * pairs / (samples * (samples - 1)) - 1, 0.0);
  return even + samples * (1 - coverage) / coverage * variation;
}

}  // namespace gw::overlay
