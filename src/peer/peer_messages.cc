// Where each message goes.

#include "base/reached.h"
#include "peer/peer.h"

namespace gw::peer {

void Peer::deliver(Time now, const PeerId& from, const Message& message, Actions& out) {
  switch (message.kind_case()) {
    case Message::kOverlay:
      return grids_.on_message(now, from, message.overlay(), out);
    case Message::kReserve:
      return on_reserve(now, from, message.reserve(), out);
    case Message::kClaim:
      return on_claim(now, from, message.claim(), out);
    case Message::kRelease:
      return on_release(from, message.release(), out);
    case Message::kOffer:
    case Message::kNoClaim:
    case Message::kStatus:
    case Message::kEffects:
    case Message::kKeeperFilled:
    case Message::kAskKept:
    case Message::kThreadFailed:
      return to_home(now, from, message, out);
    case Message::kAssign:
    case Message::kDrop:
    case Message::kStored:
    case Message::kKeeper:
    case Message::kKept:
    case Message::kImageIs:
      return to_hosted_job(now, from, message, out);
    case Message::kKeepImage:
      return keeper_.on_keep_image(now, from, message.keep_image(), out);
    case Message::kKeepDeterminants:
      return keeper_.on_keep_determinants(now, from, message.keep_determinants(), out);
    case Message::kWantImage:
      return keeper_.on_want_image(now, from, message.want_image(), out);
    case Message::kForget:
      return keeper_.on_forget(from, message.forget(), out);
    case Message::kWantBlob:
      return blobs_.on_want(from, wire::hash_of(message.want_blob().hash()), out);
    case Message::kBlob:
      if (const Status status = blobs_.on_blob(from, message.blob(), out); !status)
        out.notify(job::PeerRefused{from, status.error().detail});
      return;
    case Message::kDialBack:
      return reachability_.on_dial_back(now, from, static_cast<std::uint16_t>(message.dial_back().port()), out);
    case Message::kDialedBack:
      return reachability_.on_answer(now, from, message.dialed_back());
    case Message::kAdmit:
      return grid_administration_.on_admit(now, from, message.admit(), out);
    case Message::kAdmitted:
      return grid_administration_.on_admitted(now, from, message.admitted(), out);
    case Message::kRevocations:
      return grid_administration_.on_revocations(now, from, message.revocations(), out);
    case Message::KIND_NOT_SET:
      return;
  }
}

namespace {

// The job a message for its home is about.
const std::string& job_of(const Message& message) {
  switch (message.kind_case()) {
    case Message::kOffer:
      return message.offer().job();
    case Message::kNoClaim:
      return message.no_claim().job();
    case Message::kStatus:
      return message.status().job();
    case Message::kEffects:
      return message.effects().job();
    case Message::kKeeperFilled:
      return message.keeper_filled().job();
    case Message::kAskKept:
      return message.ask_kept().job();
    case Message::kThreadFailed:
      return message.thread_failed().job();
    case Message::kAssign:
      return message.assign().job();
    case Message::kDrop:
      return message.drop().job();
    case Message::kStored:
      return message.stored().job();
    case Message::kKeeper:
      return message.keeper().job();
    case Message::kKept:
      return message.kept().job();
    default:
      return message.image_is().job();
  }
}

// A job that is over, or never was: whoever still does something for it may stop.
void answer_unknown(const PeerId& from, const Message& message, Actions& out) {
  GW_REACHED("peer: somebody works for a job that is over");
  Message answer;
  switch (message.kind_case()) {
    case Message::kOffer:
      answer.mutable_release()->set_job(message.offer().job());
      answer.mutable_release()->set_claim(message.offer().claim());
      break;
    case Message::kStatus:
      answer.mutable_release()->set_job(message.status().job());
      answer.mutable_release()->set_claim(message.status().claim());
      break;
    case Message::kAskKept:
      answer.mutable_forget()->set_job(message.ask_kept().job());
      *answer.mutable_forget()->mutable_threads() = message.ask_kept().threads();
      break;
    default:
      return;
  }
  // The end of the job may be on its way to the disk: until it is there, a crash would bring the job back.
  out.after_disk(job::Send{from, std::move(answer)});
}

}  // namespace

void Peer::to_home(Time now, const PeerId& from, const Message& message, Actions& out) {
  const auto found = homes_.find(JobId::from(job_of(message)));
  if (found == homes_.end() || found->second->over()) return answer_unknown(from, message, out);
  job::Home& home = *found->second;
  const Grid* grid = grid_of(home.manifest());
  if (grid == nullptr || (from != identity_.self && !grid->overlay.admits(now, from)))
    return out.notify(job::PeerRefused{from, "it is no member of the private grid in which the job runs that it speaks of"});
  switch (message.kind_case()) {
    case Message::kOffer:
      return home.on_offer(now, from, message.offer(), out);
    case Message::kNoClaim:
      return home.on_no_claim(now, from, message.no_claim(), out);
    case Message::kStatus:
      return home.on_status(now, from, message.status(), out);
    case Message::kEffects:
      // A slow disk: the sender will repeat it.
      if (batches_.size() < config_.batches) home.on_effects(now, from, message.effects(), out);
      return;
    case Message::kKeeperFilled:
      return home.on_keeper_filled(now, from, message.keeper_filled(), out);
    case Message::kAskKept:
      return home.on_ask_kept(from, message.ask_kept(), out);
    case Message::kThreadFailed:
      return home.on_thread_failed(now, from, message.thread_failed(), out);
    default:
      GW_ASSERT(false);
  }
}

void Peer::to_hosted_job(Time now, const PeerId& from, const Message& message, Actions& out) {
  const auto found = hosted_jobs_.find(JobId::from(job_of(message)));
  if (found == hosted_jobs_.end()) return;  // home learns from the next claim it renews
  job::HostedJob& hosted_job = *found->second;
  // Keepers may be anybody; everything else is home's to say.
  if (message.kind_case() == Message::kKept) return hosted_job.on_kept(now, from, message.kept(), out);
  if (message.kind_case() == Message::kImageIs) return hosted_job.on_image_is(now, from, message.image_is(), out);
  if (from != hosted_job.claim().home) return out.notify(job::PeerRefused{from, "it gave orders for a job whose home it is not"});
  switch (message.kind_case()) {
    case Message::kAssign:
      if (message.assign().claim() == hosted_job.claim().claim) hosted_job.on_assign(now, message.assign(), out);
      return;
    case Message::kDrop:
      return hosted_job.on_drop(now, message.drop(), out);
    case Message::kStored:
      return hosted_job.on_stored(now, message.stored(), out);
    case Message::kKeeper:
      return hosted_job.on_keeper_change(now, message.keeper(), out);
    default:
      GW_ASSERT(false);
  }
}

void Peer::on_reserve(Time now, const PeerId& from, const Message::Reserve& reserve, Actions& out) {
  const auto grid = reserve.grid().empty() ? std::nullopt : std::optional(GridId::from(reserve.grid()));
  if (from != identity_.self && !grids_.may_run(now, from, grid)) return;  // it may not have shown its membership yet, and asks again
  const job::SlotLeases::Grant* grant = slots_.reserve(now, from, JobId::from(reserve.job()), reserve.slots());
  if (grant == nullptr) return;
  Message answer;
  answer.mutable_offer()->set_job(reserve.job());
  answer.mutable_offer()->set_claim(grant->claim);
  answer.mutable_offer()->set_slots(grant->slots);
  out.send(from, std::move(answer));
}

void Peer::on_claim(Time now, const PeerId& from, const Message::ClaimName& claim, Actions& out) {
  const JobId job = JobId::from(claim.job());
  const job::SlotLeases::Grant* grant = slots_.claim(now, from, job, claim.claim());
  if (grant == nullptr) {
    Message answer;
    *answer.mutable_no_claim() = claim;
    return out.send(from, std::move(answer));
  }
  auto& hosted_job = hosted_jobs_[job];
  if (hosted_job == nullptr) {
    const job::HostedJob::Environment environment{identity_.self, blobs_, grids_, next_worker_};
    hosted_job =
        std::make_unique<job::HostedJob>(config_.hosted_job, environment, job::HostedJob::Claim{from, job, grant->claim, grant->slots});
    hosted_job->begin(now, out);
  }
  hosted_job->send_status(now, out);
}

void Peer::on_release(const PeerId& from, const Message::ClaimName& claim, Actions& out) {
  const JobId job = JobId::from(claim.job());
  if (slots_.release(from, job, claim.claim())) close_hosted_job(job, out);
  Message answer;
  *answer.mutable_no_claim() = claim;
  out.send(from, std::move(answer));
}

}  // namespace gw::peer
