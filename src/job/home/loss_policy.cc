#include "job/home/loss_policy.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/reached.h"

namespace gw::job {

using Policy = wire::pb::Manifest::Policy;

LossPolicy::LossPolicy(const Manifest& manifest)
    : on_failure_(manifest.content().policy().on_failure()), wanted_(manifest.content().policy().slots()), most_slots_(wanted_) {}

void LossPolicy::on_claimed(std::uint64_t slots) { peak_ = std::max(peak_, slots); }

void LossPolicy::on_lost(const PeerId& host, const Claim& claim) {
  if (claim.idle() || on_failure_ == Policy::REPLACE) return;
  if (on_failure_ == Policy::IGNORE && claim.slots == 0) return;  // it was being drained, so its slots are sought elsewhere
  GW_REACHED("home: a loss of a host is not made good");
  lost_ = host;
  lost_slots_ += claim.slots;
  peak_ = std::min<std::uint64_t>(peak_, most_slots_);
  peak_ -= std::min<std::uint64_t>(peak_, claim.slots);
  most_slots_ = static_cast<std::uint32_t>(peak_);
}

std::optional<std::string> LossPolicy::ends(std::uint64_t unfinished) const {
  if (!lost_ || unfinished == 0) return std::nullopt;
  if (on_failure_ == Policy::CANCEL)
    return fmt::format("stopped because peer {} was lost and --on-failure is cancel; {} of its threads and tasks did not run to an end",
                       lost_->brief(), unfinished);
  if (most_slots_ > 0) return std::nullopt;
  return fmt::format(
      "stopped because all its machines were lost, peer {} as the last one, and --on-failure ignore replaces none; {} of its threads and "
      "tasks did not run to an end",
      lost_->brief(), unfinished);
}

std::optional<Explanation> LossPolicy::why_fewer(std::uint64_t held) const {
  if (lost_slots_ == 0 || held < most_slots_) return std::nullopt;
  return Explanation(Reason::not_replaced, fmt::format("the job has {} slots of the {} it wanted", held, wanted_));
}

void LossPolicy::recover(std::uint32_t recorded, std::uint64_t held) {
  if (recorded > 0) {
    most_slots_ = std::min(recorded, wanted_);
    lost_slots_ = 1;
  }
  peak_ = recorded > 0 ? most_slots_ : held;
}

}  // namespace gw::job
