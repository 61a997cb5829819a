#pragma once
// Where each message about a job goes, and who may send it.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "job/authority/authority.h"
#include "job/home/home.h"
#include "job/host/hosted_job.h"
#include "job/host/slot_leases.h"
#include "job/images/blob_references.h"
#include "job/images/keeper.h"
#include "job/placing/capacity.h"
#include "job/swarm/chunk_uploads.h"
#include "job/swarm/swarm.h"
#include "overlay/per_peer_rate_limit.h"
#include "peer/lender.h"
#include "peer/search_relay.h"

namespace gw::peer {

using job::Actions;
using job::JobId;
using job::JobMessage;
using job::PeerId;
using job::Time;

// Checks the right of the sender of a message about a job, once, and hands the message to the machine that it is for: no machine behind it
// asks again who the sender is. docs/design/007-job-authority.md has the table.
//
// A message without the right is dropped, counted, and reported at a limited rate. If a message arrives before its proof, because the
// sender's roster is newer or the job is not known here, this peer asks the sender for the roster; the sender repeats the message.
//
// Limits: Config. A machine without I/O or threads: its peer owns and drives it.
class JobRouter {
 public:
  struct Config {
    Time report_every = std::chrono::seconds(10);  // refusals of one peer, to people
    std::size_t reported = 64;                     // peers in that time
    Time ask_every = std::chrono::milliseconds(400);
    std::size_t questions_per_peer = 16;   // for rosters, in that time; twice as many are answered
    std::size_t asked = 1024;              // peers in that time
    std::size_t charters_per_second = 64;  // new ones of one peer: each costs a signature
    std::size_t told = 1u << 16;           // (peer, job) pairs whose roster versions are remembered
  };
  // The machines that messages are routed to; they outlive the router.
  struct Machines {
    job::Authorities& authorities;
    job::SlotLeases& slots;
    job::BlobReferences& blobs;
    job::Swarm& swarm;
    job::ChunkUploads& chunk_uploads;
    job::Keeper& keeper;
    std::map<JobId, std::unique_ptr<job::Home>>& homes;
    std::map<JobId, std::unique_ptr<job::HostedJob>>& hosted_jobs;
  };
  // The functions and objects of the peer that the router needs.
  struct Environment {
    PeerId self;
    const wire::Signer& signer;
    const job::GridRules& grids;
    std::function<bool()> disk_is_behind;  // home takes no more effects then
    std::function<bool()> disk_is_full;    // nothing is reserved or kept then
    SearchRelay& searches;
    // The terms of a reservation, or why this machine does not lend to the job.
    std::function<std::variant<job::SlotLeases::Wanted, Refusal>(Time, const job::Charter&, const JobMessage::Query&)> terms;
    // There is no slot for the job: lets claims of others leave, if it is due some, and says who holds the slots.
    std::function<Refusal(Time, const job::SlotLeases::Wanted&, Actions&)> on_no_slot;
    std::function<wire::pb::Descriptor(const job::Charter&)> introduction;              // of this peer, in the grid of the job
    std::function<job::Capacity()> capacity;                                            // of this machine, as measured last
    std::function<void(Time, const PeerId& lender, const job::Capacity&)> on_capacity;  // that a lender says it has
    std::function<std::uint64_t(std::uint32_t slots)> memory_for;                       // bytes lent with so many slots; 0: not limited
    std::function<std::unique_ptr<job::HostedJob>(const job::HostedJob::Claim&)> make_hosted_job;
  };

  JobRouter(const Config& config, const Machines& machines, Environment environment);

  // True: the sender takes part in the job, and had the right to send the message.
  bool on_message(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  // Fills in term and roster version of a message to that peer; returns the roster that has to go before it, if the peer lacks it.
  std::optional<JobMessage> prepare(const PeerId& to, JobMessage& message);
  // The peer has restarted, and has forgotten what it was told.
  void on_peer_restarted(const PeerId& peer);
  void close_hosted_job(const JobId& job, Actions& out);

  std::uint64_t refused() const { return refused_; }

 private:
  enum class Right : std::uint8_t { of_the_grid, leader, host, keeper, bearer, member };
  using Handler = void (JobRouter::*)(Time, const PeerId&, const JobMessage&, Actions&);
  struct Route {
    Right right;
    Handler handler;
  };

  static std::optional<Route> route_of(JobMessage::KindCase kind);
  std::optional<std::string> refusal(Time now, const job::Authority& authority, const PeerId& from, const JobMessage& message,
                                     Right right) const;
  void refuse(Time now, const PeerId& from, const std::string& sentence, Actions& out);
  Status add_authority(Time now, const PeerId& from, const JobId& id, const wire::pb::SignedCharter& charter);
  void ask_roster(Time now, const PeerId& from, const JobId& job, Actions& out);
  void sign_roster(const JobId& job);
  std::uint64_t note_version(const PeerId& peer, const JobId& job, std::uint64_t version);
  std::variant<job::SlotLeases::Grant, Refusal, std::monostate> reserve(Time now, const job::Charter& charter,
                                                                        const JobMessage::Query& query, Actions& out);
  void answer_search(Time now, const job::Charter& charter, const JobMessage::Query& query, Actions& out);
  static JobMessage roster_message(const job::Authority& authority);
  void on_unknown(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  job::Home* home_of(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  job::HostedJob* hosted_job_of(const JobMessage& message);
  template <class ThreadMessage>
  Result<job::Keeper::Bearer> bearer_of(const PeerId& from, const JobMessage& message, const ThreadMessage& kind) const;

  // The handlers, one for each kind of message.
  void on_search(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_decline(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_offer(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_claim(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_release(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_no_claim(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_wounded(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_claim_state(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_status(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_assign(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_drop(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_task_batch(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_task_report(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_effects(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_stored(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_keeper_change(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_keeper_filled(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_keep_image(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_keep_determinants(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_kept(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_want_image(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_image_is(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_ask_kept(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_forget(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_want_blob(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_blob(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_have(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_thread_failed(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_suspend(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_suspended(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_want_input(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_want_mail(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_mails(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_want_files(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_files_are(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_input(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_roster(Time now, const PeerId& from, const JobMessage& message, Actions& out);
  void on_want_roster(Time now, const PeerId& from, const JobMessage& message, Actions& out);

  const Config config_;
  const Machines machines_;
  const Environment environment_;
  overlay::PerPeerRateLimit reports_;
  overlay::PerPeerRateLimit charters_;
  overlay::PerPeerRateLimit questions_;
  overlay::PerPeerRateLimit roster_answers_;
  std::map<PeerId, std::map<JobId, std::uint64_t>> told_;  // roster versions others were sent
  std::size_t told_pairs_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace gw::peer
