#include "wire/messages/peer_messages.h"

#include <algorithm>

#include "base/signature.h"
#include "wire/invitation.h"
#include "wire/messages/overlay_messages.h"
#include "wire/messages/rules.h"
#include "wire/messages/streams.h"
#include "wire/messages/worker_frames.h"
#include "wire/plain_text.h"

namespace gw::wire {
namespace {

using pb::JobMessage;
using pb::PeerMessage;

constexpr std::size_t kMaxMachineName = 64;
constexpr std::size_t kMaxSentence = 1024;
constexpr std::size_t kMaxFailure = 4096;
constexpr int kMaxRevocations = 4096;
constexpr std::size_t kMaxCharterBytes = 512;
constexpr std::size_t kMaxRosterBytes = kMaxRosterMembers * 48 + 256;
constexpr std::size_t kMaxGrantBytes = 512;

bool is_hash_or_nothing(const std::string& bytes) { return bytes.empty() || is_hash(bytes); }
bool is_signature(const std::string& bytes) { return bytes.size() == sizeof(Signature); }

Status check_epoch(std::uint64_t epoch) { return require(epoch != 0 && epoch <= kMaxEpoch, "an epoch is from 1 to 2^40"); }

// Most messages are about one epoch of one thread.
template <class Message>
Status check_thread(const Message& message) {
  GW_TRY_VOID(require(message.thread() != 0, "threads begin with 1"));
  return check_epoch(message.epoch());
}

// Checks the name of a thread and the generation of its keeper.
template <class Message>
Status check_kept_thread(const Message& message) {
  GW_TRY_VOID(check_thread(message));
  return require(message.keeper_generation() != 0, "keeper generations begin with 1");
}

// The keepers on record of a thread: distinct peers.
Status check_keepers(const google::protobuf::RepeatedPtrField<std::string>& keepers) {
  GW_TRY_VOID(require(!keepers.empty() && keepers.size() <= kMaxKeepers, "a thread has one or two keepers"));
  GW_TRY_VOID(require(std::ranges::all_of(keepers, is_hash), "a keeper is named by 32 bytes"));
  return require(keepers.size() == 1 || keepers[0] != keepers[1], "the keepers of a thread are different peers");
}

Status check(const pb::SignedCharter& charter) {
  GW_TRY_VOID(require(is_signature(charter.signature()), "a signature has 64 bytes"));
  return require(!charter.charter().empty() && charter.charter().size() <= kMaxCharterBytes, "a charter has at most 512 bytes");
}

Status check(const pb::SignedGrant& grant) {
  GW_TRY_VOID(require(is_signature(grant.signature()), "a signature has 64 bytes"));
  return require(!grant.grant().empty() && grant.grant().size() <= kMaxGrantBytes, "a grant has at most 512 bytes");
}

template <class Message>
Status check_grant_if_any(const Message& message) {
  return message.has_grant() ? check(message.grant()) : ok();
}

Status check_determinant_count(std::uint64_t count) {
  return require(count <= kMaxDeterminantIndex, "a thread has at most 2^48 determinants");
}

template <class List>
Status check_few_determinants(const List& list) {
  GW_TRY_VOID(require(list.size() <= kMaxDeterminants, "there are at most 65536 determinants between two images"));
  return check_determinants(list);
}

// job/placing/search_query.h checks the query itself.
Status check(const JobMessage::Search& search) {
  GW_TRY_VOID(require(is_signature(search.signature()), "a signature has 64 bytes"));
  GW_TRY_VOID(require(!search.query().empty() && search.query().size() <= kMaxQueryBytes, "a query has at most 4096 bytes"));
  GW_TRY_VOID(require(search.hops() <= kMaxSearchHops, "a search makes at most 16 hops"));
  GW_TRY_VOID(wire::check(search.home()));
  return check(search.charter());
}

Status check(const JobMessage::Decline& decline) {
  GW_TRY_VOID(require(decline.round() != 0, "the rounds of a search begin with 1"));
  GW_TRY_VOID(require(JobMessage::Decline::Why_IsValid(decline.why()), "slots are declined for one of five reasons"));
  return require(!decline.sentence().empty() && decline.sentence().size() <= kMaxRefusalBytes, "a refusal has 1 to 512 bytes");
}

Status check(const JobMessage::Offer& offer) {
  GW_TRY_VOID(require(offer.claim() != 0, "claims begin with 1"));
  GW_TRY_VOID(require(offer.round() != 0, "the rounds of a search begin with 1"));
  if (offer.has_host()) GW_TRY_VOID(wire::check(offer.host()));
  return require(offer.slots() > 0 && offer.slots() <= kMaxJobSlots, "1 to 65536 slots are offered");
}

Status check(const JobMessage::Status& status) {
  GW_TRY_VOID(require(status.claim() != 0 && status.number() != 0, "claims and numbers of a status begin with 1"));
  GW_TRY_VOID(require(status.held_size() <= kMaxHeld, "a status has at most 16384 threads"));
  GW_TRY_VOID(require(status.slots() <= kMaxJobSlots, "a claim has at most 65536 slots"));
  for (const JobMessage::Status::Held& held : status.held()) {
    GW_TRY_VOID(check_thread(held));
    GW_TRY_VOID(require(JobMessage::StartState_IsValid(held.start_state()), "a start state is one of five"));
    GW_TRY_VOID(
        require(is_hash_or_nothing(held.stalled_keeper()) && is_hash_or_nothing(held.restored_from()), "a keeper is named by 32 bytes"));
  }
  return require(status.failure().size() <= kMaxFailure, "a sentence has at most 4096 bytes");
}

Status check(const JobMessage::Assign& assign) {
  GW_TRY_VOID(check_kept_thread(assign));
  GW_TRY_VOID(require(assign.claim() != 0, "claims begin with 1"));
  GW_TRY_VOID(require(assign.task() < kMaxTasks, "a job has at most 2^20 tasks"));
  GW_TRY_VOID(check_keepers(assign.keepers()));
  GW_TRY_VOID(read(assign.stored()));
  return check(assign.grant());
}

Status check(const JobMessage::Effects& message) {
  GW_TRY_VOID(check_thread(message));
  GW_TRY_VOID(require(is_hash_or_nothing(message.restored_from()), "a keeper is named by 32 bytes"));
  GW_TRY_VOID(require(JobMessage::StartState_IsValid(message.start_state()) && message.start_state() != JobMessage::GONE,
                      "a thread that does something runs"));
  StreamMarks last;
  for (const pb::Effect& effect : message.effects()) {
    GW_TRY_VOID(check_effect(effect));
    GW_TRY_VOID(require(effect.thread() == message.thread() && effect.epoch() == message.epoch(), "effects are of the message's thread"));
    const auto [before, first] = last.try_emplace(stream_of(effect), effect.sequence());
    GW_TRY_VOID(require(first || effect.sequence() == before->second + 1, "effects of a stream come without gaps"));
    before->second = effect.sequence();
  }
  return ok();
}

Status check_tasks(const google::protobuf::RepeatedField<std::uint32_t>& tasks) {
  GW_TRY_VOID(require(tasks.size() <= kMaxTaskList, "a report has at most 16384 tasks"));
  return require(std::ranges::all_of(tasks, [](std::uint32_t task) { return task < kMaxTasks; }), "a job has at most 2^20 tasks");
}

Status check(const JobMessage::TaskBatch& batch) {
  GW_TRY_VOID(require(batch.claim() != 0, "claims begin with 1"));
  GW_TRY_VOID(require(batch.number() != 0 || (!batch.has_tasks() && !batch.recall()), "a batch has a number"));
  return batch.has_tasks() ? check_range(batch.tasks()) : ok();
}

Status check(const JobMessage::TaskReport& report) {
  GW_TRY_VOID(require(report.claim() != 0, "claims begin with 1"));
  GW_TRY_VOID(require(report.results_size() <= kMaxTaskList && report.returned_size() <= kMaxTaskList, "a report has at most 16384 tasks"));
  for (const pb::TaskResult& result : report.results()) GW_TRY_VOID(check_task_result(result));
  for (const pb::TaskRange& range : report.returned()) GW_TRY_VOID(check_range(range));
  GW_TRY_VOID(check_tasks(report.promoted()));
  GW_TRY_VOID(check_tasks(report.lost()));
  const bool empty = report.results().empty() && report.returned().empty() && report.promoted().empty() && report.lost().empty();
  GW_TRY_VOID(require(report.number() != 0 || empty, "a report has a number"));
  return require(report.failure().size() <= kMaxFailure, "a sentence has at most 4096 bytes");
}

Status check(const JobMessage::FilesAre& message) {
  GW_TRY_VOID(require(message.files_size() <= kMaxTaskList, "an answer has at most 16384 tasks"));
  for (const JobMessage::FilesAre::Files& one : message.files()) {
    GW_TRY_VOID(require(one.task() < kMaxTasks, "a job has at most 2^20 tasks"));
    GW_TRY_VOID(require(is_hash_or_nothing(one.list()), "a list of files is named by 32 bytes"));
  }
  return ok();
}

Status check(const JobMessage::Stored& stored) {
  GW_TRY_VOID(read(stored.streams()));
  return check_thread(stored);
}

Status check(const JobMessage::KeeperChange& change) {
  GW_TRY_VOID(check_kept_thread(change));
  GW_TRY_VOID(check_keepers(change.current()));
  GW_TRY_VOID(require(is_hash_or_nothing(change.target()), "a keeper is named by 32 bytes"));
  return check(change.grant());
}

Status check(const JobMessage::KeepImage& message) {
  GW_TRY_VOID(check_kept_thread(message));
  GW_TRY_VOID(require(is_hash(message.image_root()), "an image is offered with its parts"));
  GW_TRY_VOID(check_determinant_count(message.determinants()));
  return check_grant_if_any(message);
}

Status check(const JobMessage::KeepDeterminants& message) {
  GW_TRY_VOID(check_kept_thread(message));
  GW_TRY_VOID(require(!message.determinants().empty(), "determinants come one at least"));
  GW_TRY_VOID(check_grant_if_any(message));
  return check_few_determinants(message.determinants());
}

Status check(const JobMessage::Kept& message) {
  GW_TRY_VOID(require(message.refused().size() <= kMaxSentence, "a sentence has at most 1024 bytes"));
  GW_TRY_VOID(require(is_hash_or_nothing(message.image_root()), "the parts of an image are named by 32 bytes"));
  return check_kept_thread(message);
}

Status check(const JobMessage::WantImage& message) {
  GW_TRY_VOID(check_kept_thread(message));
  return check(message.grant());
}

Status check(const JobMessage::ImageIs& message) {
  GW_TRY_VOID(check_kept_thread(message));
  GW_TRY_VOID(require(is_hash_or_nothing(message.image_root()), "the parts of an image are named by 32 bytes"));
  GW_TRY_VOID(check_determinant_count(message.in_image()));
  GW_TRY_VOID(require(message.determinants().empty() || message.determinants(0).index() == message.in_image(),
                      "determinants go on where the image ends"));
  return check_few_determinants(message.determinants());
}

template <class Message>
Status check_list(const Message& message) {
  GW_TRY_VOID(require(message.threads_size() <= kMaxHeld, "a list has at most 16384 threads"));
  for (const JobMessage::KeptName& name : message.threads()) GW_TRY_VOID(check_kept_thread(name));
  return ok();
}

Status check_claim(const JobMessage::ClaimName& claim) {
  GW_TRY_VOID(require(claim.slots() <= kMaxJobSlots, "a claim has at most 65536 slots"));
  GW_TRY_VOID(require(!claim.held() || claim.round() != 0, "claims that are held have a round"));
  return require(claim.claim() != 0, "claims begin with 1");
}

Status check_about_claim(const JobMessage& message) {
  switch (message.kind_case()) {
    case JobMessage::kRelease:
      return check_claim(message.release());
    case JobMessage::kNoClaim:
      return check_claim(message.no_claim());
    case JobMessage::kWounded:
      return check_claim(message.wounded());
    case JobMessage::kClaimState:
      return require(message.claim_state().claim() != 0 && message.claim_state().round() != 0, "claims and rounds begin with 1");
    default:
      return check_claim(message.claim());
  }
}

Status check(const JobMessage::ThreadName& name) {
  GW_TRY_VOID(require(is_hash_or_nothing(name.restored_from()), "a keeper is named by 32 bytes"));
  GW_TRY_VOID(require(name.failure().size() <= kMaxFailure, "a sentence has at most 4096 bytes"));
  return check_thread(name);
}

Status check(const JobMessage::Blob& blob) {
  GW_TRY_VOID(require(is_hash(blob.hash()), "a blob is named by 32 bytes"));
  GW_TRY_VOID(require(blob.holders_size() <= kMaxBlobHolders, "at most four holders of a blob are named"));
  GW_TRY_VOID(require(std::ranges::all_of(blob.holders(), is_hash), "a holder is named by 32 bytes"));
  return require(blob.bytes().size() <= kMaxBlobBytes, "a blob has at most 1 MiB");
}

Status check_chunks(const JobMessage& message) {
  if (message.has_blob()) return check(message.blob());
  if (message.has_want_blob()) return require(is_hash(message.want_blob().hash()), "a blob is named by 32 bytes");
  return require(message.have().chunks_size() <= kMaxHave, "at most 4096 chunks are announced at once");
}

Status check(const JobMessage::Roster& message) {
  GW_TRY_VOID(check(message.charter()));
  if (!message.has_roster()) return ok();
  GW_TRY_VOID(require(is_signature(message.roster().signature()), "a signature has 64 bytes"));
  return require(!message.roster().roster().empty() && message.roster().roster().size() <= kMaxRosterBytes,
                 "a roster has at most 4096 members");
}

Status check(const JobMessage::Input& input) {
  GW_TRY_VOID(check_thread(input));
  return require(input.bytes().size() <= kMaxInputPiece, "a piece of standard input has at most 64 KiB");
}

Status check_kind_of_tasks(const JobMessage& message) {
  if (message.has_task_batch()) return check(message.task_batch());
  if (message.has_task_report()) return check(message.task_report());
  return message.has_want_files() ? check_tasks(message.want_files().tasks()) : check(message.files_are());
}

Status check_input_or_mail(const JobMessage& message) {
  if (message.has_want_input()) return check_thread(message.want_input());
  if (message.has_input()) return check(message.input());
  if (message.has_mails()) {
    GW_TRY_VOID(check_thread(message.mails()));
    return check_mails(message.mails().first(), message.mails().mails());
  }
  const JobMessage::WantMail& want = message.want_mail();
  GW_TRY_VOID(require(want.next() <= kMaxSequence && want.in_image() <= kMaxSequence, "a thread takes at most 2^62 messages"));
  return check_thread(want);
}

Status check_kind(const JobMessage& message) {
  switch (message.kind_case()) {
    case JobMessage::kSearch:
      return check(message.search());
    case JobMessage::kDecline:
      return check(message.decline());
    case JobMessage::kOffer:
      return check(message.offer());
    case JobMessage::kClaim:
    case JobMessage::kRelease:
    case JobMessage::kNoClaim:
    case JobMessage::kWounded:
    case JobMessage::kClaimState:
      return check_about_claim(message);
    case JobMessage::kStatus:
      return check(message.status());
    case JobMessage::kAssign:
      return check(message.assign());
    case JobMessage::kDrop:
      return check(message.drop());
    case JobMessage::kEffects:
      return check(message.effects());
    case JobMessage::kStored:
      return check(message.stored());
    case JobMessage::kTaskBatch:
    case JobMessage::kTaskReport:
    case JobMessage::kWantFiles:
    case JobMessage::kFilesAre:
      return check_kind_of_tasks(message);
    case JobMessage::kKeeperChange:
      return check(message.keeper_change());
    case JobMessage::kKeeperFilled:
      return check_kept_thread(message.keeper_filled());
    case JobMessage::kKeepImage:
      return check(message.keep_image());
    case JobMessage::kKeepDeterminants:
      return check(message.keep_determinants());
    case JobMessage::kKept:
      return check(message.kept());
    case JobMessage::kWantImage:
      return check(message.want_image());
    case JobMessage::kImageIs:
      return check(message.image_is());
    case JobMessage::kAskKept:
      return check_list(message.ask_kept());
    case JobMessage::kForget:
      return check_list(message.forget());
    case JobMessage::kWantBlob:
    case JobMessage::kBlob:
    case JobMessage::kHave:
      return check_chunks(message);
    case JobMessage::kWantInput:
    case JobMessage::kInput:
    case JobMessage::kWantMail:
    case JobMessage::kMails:
      return check_input_or_mail(message);
    case JobMessage::kThreadFailed:
      return check(message.thread_failed());
    case JobMessage::kSuspend:
    case JobMessage::kSuspended:
      return check(message.has_suspend() ? message.suspend() : message.suspended());
    case JobMessage::kRoster:
      return check(message.roster());
    case JobMessage::kWantRoster:
      return ok();
    case JobMessage::KIND_NOT_SET:
      break;
  }
  return require(false, "a message about a job has a kind");
}

Status check(const JobMessage& message) {
  GW_TRY_VOID(require(is_hash(message.job()), "a job is named by 32 bytes"));
  GW_TRY_VOID(require(message.term() != 0 && message.term() <= kMaxTerm, "a term is from 1 to 2^40"));
  return check_kind(message);
}

Status check(const PeerMessage::DialedBack& answer) {
  GW_TRY_VOID(require(answer.address().empty() || is_address(answer.address()), "an address is host:port, of at most 256 bytes"));
  return require(!answer.reached() || !answer.address().empty(), "who was reached was reached somewhere");
}

Status check(const PeerMessage::Admit& request) {
  GW_TRY_VOID(require(request.invitation().size() <= kMaxInvitationText, "an invitation has at most 1024 characters"));
  GW_TRY_VOID(require(request.name().size() <= kMaxMachineName, "the name of a machine has at most 64 bytes"));
  return require(is_hash(request.key()), "a public key has 32 bytes");
}

Status check(const PeerMessage::Admitted& answer) {
  GW_TRY_VOID(require(is_hash(answer.grid()), "a grid is named by 32 bytes"));
  GW_TRY_VOID(require(is_hash_or_nothing(answer.secret()), "a private key has 32 bytes"));
  GW_TRY_VOID(require(answer.why().size() <= kMaxSentence, "a sentence has at most 1024 bytes"));
  return answer.has_membership() ? wire::check(answer.membership()) : ok();
}

Status check(const PeerMessage::Revocations& list) {
  GW_TRY_VOID(require(is_hash(list.grid()), "a grid is named by 32 bytes"));
  GW_TRY_VOID(require(list.serials_size() <= kMaxRevocations, "a list of revocations has at most 4096 entries"));
  return require(list.signature().empty() || is_signature(list.signature()), "a signature has 64 bytes");
}

Status check(const PeerMessage& message) {
  switch (message.kind_case()) {
    case PeerMessage::kJob:
      return check(message.job());
    case PeerMessage::kOverlay:
      return wire::check(message.overlay());
    case PeerMessage::kDialBack:
      return require(message.dial_back().port() > 0 && message.dial_back().port() <= 0xffff, "a port is from 1 to 65535");
    case PeerMessage::kDialedBack:
      return check(message.dialed_back());
    case PeerMessage::kAdmit:
      return check(message.admit());
    case PeerMessage::kAdmitted:
      return check(message.admitted());
    case PeerMessage::kRevocations:
      return check(message.revocations());
    case PeerMessage::KIND_NOT_SET:
      break;
  }
  return require(false, "a message has a kind");
}

// Sentences reach terminals and logs.
void clean_sentences(JobMessage& message) {
  if (message.has_status() && !message.status().failure().empty()) make_plain(*message.mutable_status()->mutable_failure());
  if (message.has_kept() && !message.kept().refused().empty()) make_plain(*message.mutable_kept()->mutable_refused());
  if (message.has_decline()) make_plain(*message.mutable_decline()->mutable_sentence());
  if (message.has_thread_failed()) make_plain(*message.mutable_thread_failed()->mutable_failure());
  if (!message.has_effects()) return;
  for (pb::Effect& effect : *message.mutable_effects()->mutable_effects())
    if (effect.has_end()) make_plain_lines(*effect.mutable_end()->mutable_sentence());
}

void clean_sentences(PeerMessage& message) {
  if (message.has_job()) clean_sentences(*message.mutable_job());
  if (message.has_admit()) make_plain(*message.mutable_admit()->mutable_name());
  if (message.has_admitted()) make_plain(*message.mutable_admitted()->mutable_why());
}

}  // namespace

Result<Bytes> encode(const pb::PeerMessage& message) {
  const std::size_t size = message.ByteSizeLong();
  if (size > kMaxPeerMessageBytes)
    return fail(Kind::overloaded, "a message of {} bytes to a peer: the limit is {}", size, kMaxPeerMessageBytes);
  Bytes bytes(size);
  GW_ASSERT(message.SerializeToArray(bytes.data(), static_cast<int>(size)));
  return bytes;
}

Result<pb::PeerMessage> decode_peer_message(ByteView payload) {
  if (payload.size() > kMaxPeerMessageBytes) return fail(Kind::invalid, "a message of {} bytes is too long", payload.size());
  PeerMessage message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return fail(Kind::invalid, "a message cannot be read");
  if (message.version() != kPeerProtocol)
    return fail(Kind::unsupported, "a message of protocol {}: this peer speaks {}; both sides need the same godwit", message.version(),
                kPeerProtocol);
  GW_TRY_VOID(require(message.boot() != 0, "the lives of a peer are counted from 1"));
  GW_TRY_VOID(check(message));
  clean_sentences(message);
  return message;
}

Hash256 hash_of(const std::string& bytes) {
  Hash256 hash;
  GW_ASSERT(bytes.size() == hash.bytes.size());
  std::ranges::copy(as_bytes(bytes), hash.bytes.begin());
  return hash;
}

}  // namespace gw::wire
