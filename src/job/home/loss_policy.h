#pragma once
// The reaction of a job to hosts that are lost.

#include <cstdint>
#include <optional>
#include <string>

#include "base/reason.h"
#include "job/authority/manifest.h"
#include "job/home/claim_table.h"

namespace gw::job {

// Says how many slots a job may hold, and whether the loss of a host ends it: `--on-failure` (design 016).
//
// A host is lost if it ends a claim on which work of the job was: it died, fell silent or says that the claim is gone. A host that home
// leaves, and one whose owner takes the slots back while the threads leave with their images, is not lost.
//
// replace: a loss changes nothing, and home seeks as many slots as the manifest wants. ignore: a loss takes its slots from those that the
// job had at most so far; home seeks no more than that from then on. The job ends when none are left. cancel: the first loss ends it.
//
// Invariant: most_slots() never exceeds what the manifest wants, and never grows after a loss. A value without threads. REQUIRES: the
// manifest outlives it.
class LossPolicy {
 public:
  explicit LossPolicy(const Manifest& manifest);

  // Slots that the job may hold.
  std::uint32_t most_slots() const { return most_slots_; }
  // The job holds so many slots now.
  void on_claimed(std::uint64_t slots);
  // The claim was ended by its host. The caller removes it.
  void on_lost(const PeerId& host, const Claim& claim);

  // The sentence with which the job ends because of a loss; none: it goes on.
  std::optional<std::string> ends(std::uint64_t unfinished) const;
  // Why no slots are sought although work waits; none: they are, or the job has lost none.
  std::optional<Explanation> why_fewer(std::uint64_t held) const;

  // The limit that is recorded; 0: there was no loss that counts.
  std::uint32_t recorded() const { return lost_slots_ > 0 ? most_slots_ : 0; }
  // After a restart of home, which holds so many slots by its records.
  void recover(std::uint32_t recorded, std::uint64_t held);

 private:
  using OnFailure = wire::pb::Manifest::Policy::OnFailure;

  const OnFailure on_failure_;
  const std::uint32_t wanted_;  // by the manifest
  std::uint32_t most_slots_;
  std::uint64_t peak_ = 0;        // slots that the job has held at once, without those that were lost
  std::uint64_t lost_slots_ = 0;  // since the start; after a restart of home at least one, if any were
  std::optional<PeerId> lost_;    // the last host that was lost
};

}  // namespace gw::job
