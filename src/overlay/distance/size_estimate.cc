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

std::optional<double> SizeEstimate::perceived() const {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < seen_.size(); ++i) order.emplace_back(seen_[(next_ + i) % seen_.size()], i);
  std::ranges::sort(order);
  double sum = 0;
  double count = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i].first != order[i - 1].first) continue;
    sum += static_cast<double>(order[i].second - order[i - 1].second);
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

}  // namespace gw::overlay
