#pragma once
// How a job begins that needs several slots at once, a gang.
//
// The problem. Two gangs that each hold a part of the slots they need wait for each other for ever. A gang that holds what it has and can
// never get the rest keeps the slots from all others.
//
// Wound-wait (design 016) is the first answer: until the job begins its claims are *held*, and a lender takes held slots away for an older
// job. So the oldest gang gets all slots that no running job has. But lenders believe an age only as far as they have seen the job
// themselves, so two of them may see two gangs in different orders; and an old gang that is too large for the grid must not stop all
// others. So slots are held for a short time only: until none has come for a while (Config::patience), and never longer than
// Config::longest. Then home gives all of them back together and rests for as long. The rest is drawn, so that two gangs do not meet in
// step for ever.
//
// A lender may take slots away in the moment in which home begins. So there is a second step: home says that it keeps the claims, each host
// confirms that it takes them away no more, and the job begins when enough hosts have. If that takes too long or a claim is lost meanwhile,
// the claims are held again: nothing is kept that another gang waits for. Each change has a number, its round, so that a late answer to an
// earlier round does not count.
//
// Ways that were rejected: home is asked before its slots are taken (a home that does not answer blocks the older gang); slots are held
// without limit (see above); releasing and waiting alone (algorithms, section 3: 127 against 70 for wound-wait).

#include <cstdint>
#include <set>

#include "base/reason.h"
#include "base/rng.h"
#include "job/home/claim_table.h"
#include "job/live_peers.h"

namespace gw::job {

// The phases of a gang until it begins. A job that needs one slot only has begun from the start. A machine without I/O or threads: its Home
// owns it, SlotAcquisition drives it and carries out its steps.
//
// Costs: O(claims) per step, O(live peers) when slots are given back and for people. Limits: those of the ClaimTable, Config::unfit.
class Gang {
 public:
  struct Config {
    Time patience = std::chrono::seconds(5);   // without another slot
    Time longest = std::chrono::seconds(15);   // that slots are held; SlotLeases::Config::held_for is longer
    Time confirm = std::chrono::seconds(5);    // until all hosts have confirmed
    Time too_large = std::chrono::minutes(1);  // rest of a gang that needs more slots than the grid has
    std::size_t unfit = 1024;                  // peers that are known not to lend to the job
  };
  // The next step of SlotAcquisition. send: tells each host what its claim is now. begin: gives back the claims that are not confirmed.
  enum class Step : std::uint8_t { nothing, send, give_back, begin };

  // `least`: slots with which the job begins; at most 1: it is no gang.
  Gang(const Config& config, std::uint32_t least) : config_(config), least_(least), phase_(least <= 1 ? Phase::begun : Phase::gathers) {}

  bool begun() const { return phase_ == Phase::begun; }
  std::uint32_t least() const { return least_; }
  // Whether hosts may take the claims away. They are told with each claim, and in which round; 0: the job has begun.
  bool holds() const { return phase_ == Phase::gathers || phase_ == Phase::rests; }
  std::uint64_t round() const { return begun() ? 0 : round_; }
  // Whether more slots are sought now.
  bool seeks() const { return begun() || phase_ == Phase::gathers; }
  // The host has confirmed the present round.
  bool is_confirmed(const PeerId& host) const { return confirmed_.contains(host); }

  void on_claimed(Time now, const ClaimTable& claims);
  // A host says whether it holds its claim, and in which round.
  void on_answer(const PeerId& host, std::uint64_t round, bool held);
  Step step(Time now, const ClaimTable& claims, const LivePeers& live_peers, Rng& rng);
  // A peer offers slots; or it would lend none to this job if it had free ones.
  void on_lends(const PeerId& peer) { unfit_.erase(peer); }
  void on_unfit(const PeerId& peer);
  // Why the job has not begun.
  Explanation why(const ClaimTable& claims, const LivePeers& live_peers) const;
  // The job was suspended and has no claims: it begins again as it did first.
  void begin_again();
  // Threads of the job ran before a restart of home.
  void recover_begun() { phase_ = Phase::begun; }

 private:
  enum class Phase : std::uint8_t { gathers, confirms, rests, begun };

  void enter(Phase phase);
  std::uint64_t confirmed_slots(const ClaimTable& claims) const;
  // Slots of all peers that lend to this job, whether other jobs use them or not.
  std::uint64_t offered(const LivePeers& live_peers) const;

  const Config config_;
  const std::uint32_t least_;
  Phase phase_;
  std::uint64_t round_ = 1;
  std::set<PeerId> confirmed_;
  std::set<PeerId> unfit_;
  Time since_{0};       // of the first claim
  Time gained_{0};      // of the last one
  Time confirm_by_{0};  // of the phase `confirms`
  Time rest_until_{0};  // of the phase `rests`
};

}  // namespace gw::job
