#include "peer/job_router.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "wire/messages/peer_messages.h"

namespace gw::peer {

using job::Authority;
using job::Keeper;

JobRouter::JobRouter(const Config& config, const Machines& machines, Environment environment)
    : config_(config),
      machines_(machines),
      environment_(std::move(environment)),
      reports_({config.report_every, 1, config.reported}),
      charters_({std::chrono::seconds(1), config.charters_per_second, config.asked}),
      questions_({config.ask_every, config.questions_per_peer, config.asked}),
      // Twice the questions: the periods of both peers begin at different times.
      roster_answers_({config.ask_every, 2 * config.questions_per_peer, config.asked}) {}

std::optional<JobRouter::Route> JobRouter::route_of(JobMessage::KindCase kind) {
  static const std::map<JobMessage::KindCase, Route> kRoutes = {
      // Messages that bring the charter by which they are judged.
      {JobMessage::kSearch, {Right::of_the_grid, &JobRouter::on_search}},
      {JobMessage::kRoster, {Right::of_the_grid, &JobRouter::on_roster}},
      // Home itself checks that it has asked the sender.
      {JobMessage::kOffer, {Right::of_the_grid, &JobRouter::on_offer}},
      {JobMessage::kDecline, {Right::of_the_grid, &JobRouter::on_decline}},

      {JobMessage::kClaim, {Right::leader, &JobRouter::on_claim}},
      {JobMessage::kRelease, {Right::leader, &JobRouter::on_release}},
      {JobMessage::kAssign, {Right::leader, &JobRouter::on_assign}},
      {JobMessage::kTaskBatch, {Right::leader, &JobRouter::on_task_batch}},
      {JobMessage::kDrop, {Right::leader, &JobRouter::on_drop}},
      {JobMessage::kStored, {Right::leader, &JobRouter::on_stored}},
      {JobMessage::kKeeperChange, {Right::leader, &JobRouter::on_keeper_change}},
      {JobMessage::kForget, {Right::leader, &JobRouter::on_forget}},
      {JobMessage::kInput, {Right::leader, &JobRouter::on_input}},
      {JobMessage::kMails, {Right::leader, &JobRouter::on_mails}},
      {JobMessage::kFilesAre, {Right::leader, &JobRouter::on_files_are}},
      {JobMessage::kSuspend, {Right::leader, &JobRouter::on_suspend}},

      {JobMessage::kHave, {Right::host, &JobRouter::on_have}},
      {JobMessage::kStatus, {Right::host, &JobRouter::on_status}},
      {JobMessage::kNoClaim, {Right::host, &JobRouter::on_no_claim}},
      {JobMessage::kWounded, {Right::host, &JobRouter::on_wounded}},
      {JobMessage::kClaimState, {Right::host, &JobRouter::on_claim_state}},
      {JobMessage::kEffects, {Right::host, &JobRouter::on_effects}},
      {JobMessage::kTaskReport, {Right::host, &JobRouter::on_task_report}},
      {JobMessage::kKeeperFilled, {Right::host, &JobRouter::on_keeper_filled}},
      {JobMessage::kThreadFailed, {Right::host, &JobRouter::on_thread_failed}},
      {JobMessage::kWantInput, {Right::host, &JobRouter::on_want_input}},
      {JobMessage::kWantMail, {Right::host, &JobRouter::on_want_mail}},
      {JobMessage::kWantFiles, {Right::host, &JobRouter::on_want_files}},
      {JobMessage::kSuspended, {Right::host, &JobRouter::on_suspended}},

      {JobMessage::kKeepImage, {Right::bearer, &JobRouter::on_keep_image}},
      {JobMessage::kKeepDeterminants, {Right::bearer, &JobRouter::on_keep_determinants}},
      {JobMessage::kWantImage, {Right::bearer, &JobRouter::on_want_image}},

      {JobMessage::kKept, {Right::keeper, &JobRouter::on_kept}},
      {JobMessage::kImageIs, {Right::keeper, &JobRouter::on_image_is}},
      {JobMessage::kAskKept, {Right::keeper, &JobRouter::on_ask_kept}},

      {JobMessage::kWantBlob, {Right::member, &JobRouter::on_want_blob}},
      {JobMessage::kBlob, {Right::member, &JobRouter::on_blob}},
      {JobMessage::kWantRoster, {Right::member, &JobRouter::on_want_roster}},
  };
  const auto found = kRoutes.find(kind);
  return found == kRoutes.end() ? std::nullopt : std::optional(found->second);
}

bool JobRouter::on_message(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const std::optional<Route> route = route_of(message.kind_case());
  if (!route) return false;
  const JobId job = JobId::from(message.job());
  if (route->right != Right::of_the_grid) {
    sign_roster(job);
    Authority* authority = machines_.authorities.find(job);
    const bool newer = authority == nullptr ? route->right == Right::bearer || route->right == Right::member
                                            : authority->roster_version() < message.roster_version();
    if (newer && from != environment_.self) ask_roster(now, from, job, out);
    if (authority == nullptr) {
      on_unknown(now, from, message, out);
      return false;
    }
    if (const auto why = refusal(now, *authority, from, message, route->right)) {
      // The sender's newer roster, which was asked for above, may allow the message.
      if (newer) return false;
      // After a restart of either side a peer may not have shown its membership yet: it must not be told to stop its work for the job.
      const bool of_grid = environment_.grids.may_run(now, from, authority->charter().grid()).has_value() || GW_BUG(26);
      const bool may_stop = of_grid && authority->is_leader(environment_.self) && (message.has_status() || message.has_ask_kept());
      may_stop ? on_unknown(now, from, message, out) : refuse(now, from, *why, out);
      return false;
    }
  }
  if (route->right != Right::of_the_grid) note_version(from, job, message.roster_version());
  (this->*route->handler)(now, from, message, out);
  return route->right != Right::of_the_grid;
}

// Why a message is not taken; nothing if it is.
std::optional<std::string> JobRouter::refusal(Time now, const Authority& authority, const PeerId& from, const JobMessage& message,
                                              Right right) const {
  if (GW_BUG(19)) return std::nullopt;
  if (const Status allowed = environment_.grids.may_run(now, from, authority.charter().grid()); !allowed)
    return "it speaks of a job of a private grid and has shown no membership of it";
  if (message.term() != authority.term())
    return fmt::format("it speaks of a job in term {}, which is not led by anybody known here", message.term());
  switch (right) {
    case Right::of_the_grid:
      return std::nullopt;
    case Right::leader:
      if (authority.is_leader(from)) return std::nullopt;
      return "it gave orders for a job whose home it is not";
    case Right::host:
      if (authority.may_host(from)) return std::nullopt;
      return "it speaks for threads of a job of which it is no host";
    case Right::keeper:
      if (authority.may_keep(from)) return std::nullopt;
      return "it speaks of images of a job of which it is no keeper";
    case Right::bearer:  // the handler also checks the grant
    case Right::member:
      if (authority.is_member(from)) return std::nullopt;
      return "it takes no part in the job it speaks of";
  }
  return "it has no right to say this";
}

void JobRouter::refuse(Time now, const PeerId& from, const std::string& sentence, Actions& out) {
  GW_REACHED("router: a message without the right was refused");
  ++refused_;
  if (reports_.admit(now, from)) out.notify(job::PeerRefused{from, sentence});
}

// --- charters and rosters

// Kind::overloaded: the sender speaks of many new jobs. Kind::invalid: its charter is wrong.
Status JobRouter::add_authority(Time now, const PeerId& from, const JobId& id, const wire::pb::SignedCharter& bytes) {
  if (machines_.authorities.find(id) != nullptr) return ok();
  if (!charters_.admit(now, from)) return fail(gw::Kind::overloaded, "it speaks of more new jobs than can be checked");
  GW_TRY(job::Charter charter, job::Charter::check(as_bytes(bytes.SerializeAsString())));
  if (charter.id() != id) return fail(gw::Kind::invalid, "it showed the charter of another job");
  machines_.authorities.add(std::move(charter));
  return ok();
}

void JobRouter::on_roster(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const JobId job = JobId::from(message.job());
  if (const Status known = add_authority(now, from, job, message.roster().charter()); !known)
    return refuse(now, from, known.error().detail, out);
  if (!message.roster().has_roster()) return;
  const Status taken = machines_.authorities.take_roster(job, message.roster().roster(), environment_.signer);
  if (!taken) refuse(now, from, taken.error().detail, out);
}

// A roster may have 40 KB, and its question a few bytes: the sender asks again later.
void JobRouter::on_want_roster(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (!roster_answers_.admit(now, from)) return;
  const JobId job = JobId::from(message.job());
  out.send(from, job, roster_message(*machines_.authorities.find(job)));
}

void JobRouter::ask_roster(Time now, const PeerId& from, const JobId& job, Actions& out) {
  if (!questions_.admit(now, from)) return;
  GW_REACHED("router: a roster was asked for");
  JobMessage question;
  question.mutable_want_roster();
  out.send(from, job, std::move(question));
}

// Signs the changes of the roster that home has made since the last signature.
void JobRouter::sign_roster(const JobId& job) {
  const auto home = machines_.homes.find(job);
  if (home == machines_.homes.end()) return;
  if (const auto roster = home->second->take_roster_change())
    GW_ASSERT(machines_.authorities.take_roster(job, *roster, environment_.signer).has_value());
}

JobMessage JobRouter::roster_message(const Authority& authority) {
  JobMessage message;
  *message.mutable_roster()->mutable_charter() = authority.charter().signed_charter();
  if (authority.roster_version() > 0) *message.mutable_roster()->mutable_roster() = authority.roster();
  return message;
}

std::optional<JobMessage> JobRouter::prepare(const PeerId& to, JobMessage& message) {
  const JobId job = JobId::from(message.job());
  sign_roster(job);
  const Authority* authority = machines_.authorities.find(job);
  message.set_term(authority != nullptr ? authority->term() : Authority::kFirstTerm);
  const std::uint64_t version = authority != nullptr ? authority->roster_version() : 0;
  message.set_roster_version(version);
  const bool proves_itself = message.has_roster() || message.has_search() || message.has_release() || message.has_forget();
  if (version == 0 || proves_itself || to == environment_.self || authority->is_leader(to) || !authority->is_member(to))
    return std::nullopt;
  if (note_version(to, job, version) >= version) return std::nullopt;
  JobMessage roster = roster_message(*authority);
  roster.set_job(message.job());
  roster.set_term(message.term());
  roster.set_roster_version(version);
  return roster;
}

// The peer has the roster of this version. Returns the version that it was known to have.
std::uint64_t JobRouter::note_version(const PeerId& peer, const JobId& job, std::uint64_t version) {
  if (told_pairs_ >= config_.told) {
    told_.clear();
    told_pairs_ = 0;
  }
  const auto [told, fresh] = told_[peer].try_emplace(job, 0);
  told_pairs_ += fresh ? 1 : 0;
  return std::exchange(told->second, std::max(told->second, version));
}

void JobRouter::on_peer_restarted(const PeerId& peer) {
  const auto found = told_.find(peer);
  if (found == told_.end()) return;
  told_pairs_ -= found->second.size();
  told_.erase(found);
}

// --- jobs that are not known

// Answers a message about a job that is over, or never was, or in which the sender has no part any more: the sender may stop its work for
// it.
void JobRouter::on_unknown(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (message.has_have() || message.has_decline()) return;  // sent before its sender could know that the job is over here
  const JobId job = JobId::from(message.job());
  JobMessage answer;
  if (message.has_offer()) {
    answer.mutable_release()->set_claim(message.offer().claim());
  } else if (message.has_status()) {
    answer.mutable_release()->set_claim(message.status().claim());
  } else if (message.has_task_report()) {
    answer.mutable_release()->set_claim(message.task_report().claim());
  } else if (message.has_claim_state()) {
    answer.mutable_release()->set_claim(message.claim_state().claim());
  } else if (message.has_claim()) {
    *answer.mutable_no_claim() = message.claim();
  } else if (message.has_ask_kept()) {
    *answer.mutable_forget()->mutable_threads() = message.ask_kept().threads();
  } else {
    return refuse(now, from, fmt::format("it speaks of job {}, which is not known here", job.brief()), out);
  }
  GW_REACHED("router: a peer works for a job without need");
  ++refused_;
  if (environment_.disk_is_behind()) return;  // the answer would wait in memory, and the sender repeats its message
  // The end of the job may be on its way to the disk: until it is there, a crash would bring the job back.
  out.after_disk(job::to_peer(from, job, std::move(answer)));
}

// --- slots

void JobRouter::on_search(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const auto query = environment_.searches.look(now, from, message);
  if (!query) {
    if (query.error().kind == gw::Kind::invalid) refuse(now, from, query.error().detail, out);
    return;
  }
  const JobId job = JobId::from(message.job());
  if (const Status known = add_authority(now, from, job, message.search().charter()); !known) {
    // A relay that passes on the searches of many homes does its duty.
    if (known.error().kind == gw::Kind::invalid) refuse(now, from, known.error().detail, out);
    return;
  }
  const job::Charter charter = machines_.authorities.find(job)->charter();
  // A relay cannot know whether the home has sent the search: it is not blamed.
  if (from != environment_.self && !environment_.searches.is_genuine(now, charter, message.search(), out)) return;
  // Home and relay may not have shown their membership yet; home searches again.
  for (const PeerId& peer : {from, charter.first_home()})
    if (!environment_.grids.may_run(now, peer, charter.grid())) return;
  if (environment_.searches.handle(now, from, charter, *query, message, out)) answer_search(now, charter, *query, out);
}

// The slots of a job that has a claim already are none of its search.
std::variant<job::SlotLeases::Grant, Refusal, std::monostate> JobRouter::reserve(Time now, const job::Charter& charter,
                                                                                 const JobMessage::Query& query, Actions& out) {
  if (environment_.disk_is_full()) return Refusal{JobMessage::Decline::DISK_FULL, "its disk is full"};
  const auto terms = environment_.terms(now, charter, query);
  if (const auto* refusal = std::get_if<Refusal>(&terms)) return *refusal;
  const auto& wanted = std::get<job::SlotLeases::Wanted>(terms);
  if (const job::SlotLeases::Grant* grant = machines_.slots.reserve(now, wanted)) return *grant;
  if (machines_.slots.find(charter.id()) != nullptr) return std::monostate();
  return environment_.on_no_slot(now, wanted, out);
}

void JobRouter::answer_search(Time now, const job::Charter& charter, const JobMessage::Query& query, Actions& out) {
  const auto reserved = reserve(now, charter, query, out);
  JobMessage answer;
  if (const auto* grant = std::get_if<job::SlotLeases::Grant>(&reserved)) {
    JobMessage::Offer& offer = *answer.mutable_offer();
    offer.set_claim(grant->claim);
    offer.set_slots(grant->slots);
    offer.set_memory_bytes(environment_.memory_for(grant->slots));
    *offer.mutable_capacity() = environment_.capacity();
    offer.set_round(query.round());
    *offer.mutable_host() = environment_.introduction(charter);
  } else if (const auto* refusal = std::get_if<Refusal>(&reserved)) {
    GW_REACHED("router: slots were refused with a reason");
    JobMessage::Decline& decline = *answer.mutable_decline();
    decline.set_round(query.round());
    decline.set_why(refusal->why);
    decline.set_sentence(refusal->sentence.substr(0, wire::kMaxRefusalBytes));
    *decline.mutable_capacity() = environment_.capacity();
  } else {
    return;
  }
  out.send(charter.first_home(), charter.id(), std::move(answer));
}

void JobRouter::on_claim(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const JobId job = JobId::from(message.job());
  const JobMessage::ClaimName& claim = message.claim();
  const job::SlotLeases::Grant* grant = machines_.slots.claim(now, from, job, claim.claim(), claim.slots(), {claim.held(), claim.round()});
  if (grant == nullptr) {
    JobMessage answer;
    *answer.mutable_no_claim() = message.claim();
    return out.send(from, job, std::move(answer));
  }
  if (claim.round() > 0) {
    JobMessage answer;
    answer.mutable_claim_state()->set_claim(grant->claim);
    answer.mutable_claim_state()->set_round(grant->round);
    answer.mutable_claim_state()->set_held(grant->held);
    out.send(from, job, std::move(answer));
  }
  if (grant->held) return close_hosted_job(job, out);  // nothing is fetched for a job that may never run here
  auto& hosted_job = machines_.hosted_jobs[job];
  if (hosted_job == nullptr) {
    machines_.authorities.hold(job);
    const Hash256 manifest = machines_.authorities.find(job)->charter().manifest();
    hosted_job = environment_.make_hosted_job({from, job, grant->claim, grant->slots, manifest});
    hosted_job->begin(now, out);
  }
  hosted_job->on_claim(now, message.claim(), out);
}

void JobRouter::on_release(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const JobId job = JobId::from(message.job());
  if (machines_.slots.release(now, from, job, message.release().claim())) close_hosted_job(job, out);
  JobMessage answer;
  *answer.mutable_no_claim() = message.release();
  out.send(from, job, std::move(answer));
}

void JobRouter::close_hosted_job(const JobId& job, Actions& out) {
  const auto found = machines_.hosted_jobs.find(job);
  if (found == machines_.hosted_jobs.end()) return;
  found->second->close(out);
  machines_.hosted_jobs.erase(found);
  if (!machines_.homes.contains(job)) machines_.chunk_uploads.close(job);
  machines_.authorities.release(job);
}

// --- for home

// nullptr: the job is over, or its home is another peer; then the sender has been told.
job::Home* JobRouter::home_of(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const auto found = machines_.homes.find(JobId::from(message.job()));
  if (found != machines_.homes.end() && !found->second->over()) return found->second.get();
  on_unknown(now, from, message, out);
  return nullptr;
}

void JobRouter::on_offer(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  job::Home* home = home_of(now, from, message, out);
  if (home == nullptr) return;
  if (!environment_.grids.may_run(now, from, home->charter().grid()))
    return refuse(now, from, "it offered slots to a job of a private grid and has shown no membership of it", out);
  if (message.offer().has_capacity()) {
    const Status good = job::check(message.offer().capacity());
    if (!good) return refuse(now, from, good.error().detail, out);
    environment_.on_capacity(now, from, message.offer().capacity());
  }
  home->on_offer(now, from, message.offer(), out);
}

void JobRouter::on_decline(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  job::Home* home = home_of(now, from, message, out);
  // A peer outside a private grid learns nothing of its jobs, and has nothing to say about them.
  if (home == nullptr || !environment_.grids.may_run(now, from, home->charter().grid())) return;
  const Status good = job::check(message.decline().capacity());
  if (!good) return refuse(now, from, good.error().detail, out);
  environment_.on_capacity(now, from, message.decline().capacity());
  home->on_decline(now, from, message.decline(), out);
}

void JobRouter::on_status(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (job::Home* home = home_of(now, from, message, out)) home->on_status(now, from, message.status(), out);
}

void JobRouter::on_no_claim(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const auto found = machines_.homes.find(JobId::from(message.job()));
  if (found != machines_.homes.end()) found->second->on_no_claim(now, from, message.no_claim(), out);
}

void JobRouter::on_wounded(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const auto found = machines_.homes.find(JobId::from(message.job()));
  if (found != machines_.homes.end()) found->second->on_wounded(now, from, message.wounded(), out);
}

void JobRouter::on_claim_state(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (job::Home* home = home_of(now, from, message, out)) home->on_claim_state(now, from, message.claim_state(), out);
}

void JobRouter::on_effects(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (environment_.disk_is_behind()) return;  // the sender will repeat it
  if (job::Home* home = home_of(now, from, message, out)) home->on_effects(now, from, message.effects(), out);
}

void JobRouter::on_task_report(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (environment_.disk_is_behind()) return;  // the sender will repeat it
  if (job::Home* home = home_of(now, from, message, out)) home->on_task_report(now, from, message.task_report(), out);
}

void JobRouter::on_keeper_filled(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (job::Home* home = home_of(now, from, message, out)) home->on_keeper_filled(now, from, message.keeper_filled(), out);
}

void JobRouter::on_thread_failed(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (job::Home* home = home_of(now, from, message, out)) home->on_thread_failed(now, from, message.thread_failed(), out);
}

void JobRouter::on_want_files(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (const job::Home* home = home_of(now, from, message, out)) home->on_want_files(from, message.want_files(), out);
}

void JobRouter::on_want_input(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (job::Home* home = home_of(now, from, message, out)) home->on_want_input(now, from, message.want_input(), out);
}

void JobRouter::on_want_mail(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (job::Home* home = home_of(now, from, message, out)) home->on_want_mail(now, from, message.want_mail(), out);
}

void JobRouter::on_suspended(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (job::Home* home = home_of(now, from, message, out)) home->on_suspended(now, from, message.suspended(), out);
}

void JobRouter::on_ask_kept(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (job::Home* home = home_of(now, from, message, out)) home->on_ask_kept(now, from, message.ask_kept(), out);
}

// --- for hosts: a host without such a claim ignores the message, and home finds out when it renews the claim

job::HostedJob* JobRouter::hosted_job_of(const JobMessage& message) {
  const auto found = machines_.hosted_jobs.find(JobId::from(message.job()));
  return found == machines_.hosted_jobs.end() ? nullptr : found->second.get();
}

void JobRouter::on_assign(Time now, const PeerId&, const JobMessage& message, Actions& out) {
  job::HostedJob* hosted_job = hosted_job_of(message);
  if (hosted_job == nullptr || hosted_job->claim().claim != message.assign().claim()) return;
  machines_.slots.on_used(JobId::from(message.job()));
  hosted_job->on_assign(now, message.assign(), out);
}

void JobRouter::on_task_batch(Time now, const PeerId&, const JobMessage& message, Actions& out) {
  job::HostedJob* hosted_job = hosted_job_of(message);
  if (hosted_job == nullptr || hosted_job->claim().claim != message.task_batch().claim()) return;
  machines_.slots.on_used(JobId::from(message.job()));
  hosted_job->on_task_batch(now, message.task_batch(), out);
}

void JobRouter::on_drop(Time now, const PeerId&, const JobMessage& message, Actions& out) {
  if (job::HostedJob* hosted_job = hosted_job_of(message)) hosted_job->on_drop(now, message.drop(), out);
}

void JobRouter::on_stored(Time now, const PeerId&, const JobMessage& message, Actions& out) {
  if (job::HostedJob* hosted_job = hosted_job_of(message)) hosted_job->on_stored(now, message.stored(), out);
}

void JobRouter::on_keeper_change(Time now, const PeerId&, const JobMessage& message, Actions& out) {
  if (job::HostedJob* hosted_job = hosted_job_of(message)) hosted_job->on_keeper_change(now, message.keeper_change(), out);
}

void JobRouter::on_suspend(Time now, const PeerId&, const JobMessage& message, Actions& out) {
  if (job::HostedJob* hosted_job = hosted_job_of(message)) hosted_job->on_suspend(now, message.suspend(), out);
}

void JobRouter::on_files_are(Time now, const PeerId&, const JobMessage& message, Actions& out) {
  if (job::HostedJob* hosted_job = hosted_job_of(message)) hosted_job->on_files_are(now, message.files_are(), out);
}

void JobRouter::on_mails(Time now, const PeerId&, const JobMessage& message, Actions& out) {
  if (job::HostedJob* hosted_job = hosted_job_of(message)) hosted_job->on_mails(now, message.mails(), out);
}

void JobRouter::on_input(Time now, const PeerId&, const JobMessage& message, Actions& out) {
  if (job::HostedJob* hosted_job = hosted_job_of(message)) hosted_job->on_input(now, message.input(), out);
}

void JobRouter::on_kept(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (job::HostedJob* hosted_job = hosted_job_of(message)) hosted_job->on_kept(now, from, message.kept(), out);
}

void JobRouter::on_image_is(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  if (job::HostedJob* hosted_job = hosted_job_of(message)) hosted_job->on_image_is(now, from, message.image_is(), out);
}

// --- for the keeper

// A host that already writes for the thread needs no grant. Any other host needs a grant that names it, this keeper, the thread, the epoch
// and the keeper generation.
template <class ThreadMessage>
Result<Keeper::Bearer> JobRouter::bearer_of(const PeerId& from, const JobMessage& message, const ThreadMessage& kind) const {
  const JobId job = JobId::from(message.job());
  const auto known = machines_.keeper.bearer({job, job::ThreadId{kind.thread()}});
  if (known && known->host == from && known->epoch == kind.epoch() && known->keeper_generation == kind.keeper_generation()) return *known;
  const Authority& authority = *machines_.authorities.find(job);
  if (!kind.has_grant() || authority.roster_version() == 0)
    return fail(gw::Kind::invalid, "it spoke for thread {} in epoch {} without a grant", kind.thread(), kind.epoch());
  GW_TRY(const job::ThreadGrant grant, authority.check_grant(kind.grant(), environment_.signer));
  if ((grant.host != from && !GW_BUG(20)) || !grant.keepers.contains(environment_.self))
    return fail(gw::Kind::invalid, "it showed a grant that is not its own, or for another keeper");
  if (grant.thread != job::ThreadId{kind.thread()})
    return fail(gw::Kind::invalid, "it spoke for thread {} with the grant of another one", kind.thread());
  if (grant.epoch == kind.epoch() && grant.keeper_generation == kind.keeper_generation())
    return Keeper::Bearer{from, kind.epoch(), kind.keeper_generation()};
  return fail(gw::Kind::invalid, "it spoke for thread {} in epoch {} with a grant of epoch {}", kind.thread(), kind.epoch(), grant.epoch);
}

void JobRouter::on_keep_image(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const auto bearer = bearer_of(from, message, message.keep_image());
  if (!bearer) return refuse(now, from, bearer.error().detail, out);
  if (environment_.disk_is_full()) return;  // the host offers it again
  machines_.keeper.on_keep_image(now, JobId::from(message.job()), *bearer, message.keep_image(), out);
}

void JobRouter::on_keep_determinants(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const auto bearer = bearer_of(from, message, message.keep_determinants());
  if (!bearer) return refuse(now, from, bearer.error().detail, out);
  if (environment_.disk_is_full()) return;  // the host repeats them
  machines_.keeper.on_keep_determinants(now, JobId::from(message.job()), *bearer, message.keep_determinants(), out);
}

void JobRouter::on_want_image(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const auto bearer = bearer_of(from, message, message.want_image());
  if (!bearer) return refuse(now, from, bearer.error().detail, out);
  if (environment_.disk_is_behind()) return;  // the host asks again
  machines_.keeper.on_want_image(now, JobId::from(message.job()), *bearer, message.want_image(), out);
}

void JobRouter::on_forget(Time, const PeerId&, const JobMessage& message, Actions& out) {
  machines_.keeper.on_forget(JobId::from(message.job()), message.forget(), out);
}

// --- blobs

// Code and inputs of a job go through the queue of uploads; parts of images, which few peers ask for, at once.
void JobRouter::on_want_blob(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const JobId job = JobId::from(message.job());
  const Hash256 hash = wire::hash_of(message.want_blob().hash());
  if (!machines_.blobs.is_shared(hash, job)) {
    machines_.blobs.on_want(from, job, hash, out);
    return;
  }
  const bool at_home = machines_.homes.contains(job);
  machines_.chunk_uploads.on_want(now, {from, job, hash}, at_home && message.want_blob().from_any(), out);
}

void JobRouter::on_blob(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  const Status status = machines_.blobs.on_blob(now, from, message.blob(), out);
  machines_.swarm.on_answer(now, from, JobId::from(message.job()), message.blob(), status.has_value(), out);
  if (!status) refuse(now, from, status.error().detail, out);
}

void JobRouter::on_have(Time now, const PeerId& from, const JobMessage& message, Actions& out) {
  machines_.chunk_uploads.on_have(now, from, message.have(), out);
  machines_.swarm.on_have(now, from, JobId::from(message.job()), message.have(), out);
}

}  // namespace gw::peer
