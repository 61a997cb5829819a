#include "wire/peer_messages.h"

#include <algorithm>

#include "base/signature.h"
#include "wire/invitation.h"
#include "wire/overlay_messages.h"
#include "wire/rules.h"
#include "wire/worker_frames.h"

namespace gw::wire {
namespace {

using pb::PeerMessage;

constexpr std::size_t kMaxMachineName = 64;
constexpr std::size_t kMaxSentence = 1024;
constexpr int kMaxRevocations = 4096;

bool is_hash_or_nothing(const std::string& bytes) { return bytes.empty() || is_hash(bytes); }

Status check_job(const std::string& job) { return require(is_hash(job), "a job is named by 32 bytes"); }

// Most messages are about one life of one thread.
template <class Message>
Status check_thread(const Message& message) {
  GW_TRY_VOID(check_job(message.job()));
  return require(message.thread() != 0 && message.epoch() != 0, "threads and epochs begin with 1");
}

template <class List>
Status check_few_determinants(const List& list) {
  GW_TRY_VOID(require(list.size() <= kMaxDeterminants, "there are at most 65536 determinants between two images"));
  return check_determinants(list);
}

Status check(const PeerMessage::Status& status) {
  GW_TRY_VOID(check_job(status.job()));
  GW_TRY_VOID(require(status.claim() != 0 && status.number() != 0, "claims and numbers of a status begin with 1"));
  GW_TRY_VOID(require(status.held_size() <= kMaxHeld, "a status has at most 16384 threads"));
  return require(status.failure().size() <= 4096, "a sentence has at most 4096 bytes");
}

Status check(const PeerMessage::Assign& assign) {
  GW_TRY_VOID(check_thread(assign));
  GW_TRY_VOID(require(assign.claim() != 0, "claims begin with 1"));
  return require(is_hash(assign.keeper()), "a thread has a keeper");
}

Status check(const PeerMessage::Effects& message) {
  GW_TRY_VOID(check_thread(message));
  for (const pb::Effect& effect : message.effects()) {
    GW_TRY_VOID(check_effect(effect));
    GW_TRY_VOID(require(effect.thread() == message.thread() && effect.epoch() == message.epoch(), "effects are of the message's thread"));
  }
  const auto gap = [](const pb::Effect& a, const pb::Effect& b) { return b.sequence() != a.sequence() + 1; };
  GW_TRY_VOID(require(std::ranges::adjacent_find(message.effects(), gap) == message.effects().end(), "effects come without gaps"));
  for (const auto& child : message.children())
    GW_TRY_VOID(require(child.thread() != 0 && is_hash(child.keeper()), "a child has a name and a keeper"));
  return ok();
}

Status check(const PeerMessage::KeeperChange& change) {
  GW_TRY_VOID(check_thread(change));
  return require(is_hash(change.current()) && is_hash_or_nothing(change.target()), "a keeper is named by 32 bytes");
}

Status check(const PeerMessage::KeepImage& message) {
  GW_TRY_VOID(check_thread(message));
  return require(is_hash(message.home()) && is_hash(message.parts()), "an image is offered with its home and its parts");
}

Status check(const PeerMessage::KeepDeterminants& message) {
  GW_TRY_VOID(check_thread(message));
  GW_TRY_VOID(require(is_hash(message.home()) && !message.determinants().empty(), "determinants come with their home, one at least"));
  return check_few_determinants(message.determinants());
}

Status check(const PeerMessage::ImageIs& message) {
  GW_TRY_VOID(check_thread(message));
  GW_TRY_VOID(require(is_hash_or_nothing(message.parts()), "the parts of an image are named by 32 bytes"));
  return check_few_determinants(message.determinants());
}

template <class Message>
Status check_list(const Message& message) {
  GW_TRY_VOID(check_job(message.job()));
  return require(message.threads_size() <= kMaxHeld, "a list has at most 16384 threads");
}

Status check_claim(const PeerMessage::ClaimName& claim) {
  GW_TRY_VOID(check_job(claim.job()));
  return require(claim.claim() != 0, "claims begin with 1");
}

Status check(const PeerMessage::Blob& blob) {
  GW_TRY_VOID(require(is_hash(blob.hash()), "a blob is named by 32 bytes"));
  return require(blob.bytes().size() <= kMaxBlobBytes, "a blob has at most 1 MiB");
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
  return require(list.signature().empty() || list.signature().size() == sizeof(Signature), "a signature has 64 bytes");
}

Status check(const PeerMessage& message) {
  switch (message.kind_case()) {
    case PeerMessage::kReserve:
      GW_TRY_VOID(require(message.reserve().slots() > 0, "nothing is reserved"));
      GW_TRY_VOID(require(is_hash_or_nothing(message.reserve().grid()), "a grid is named by 32 bytes"));
      return check_job(message.reserve().job());
    case PeerMessage::kOffer:
      GW_TRY_VOID(require(message.offer().claim() != 0 && message.offer().slots() > 0, "an offer has a claim and slots"));
      return check_job(message.offer().job());
    case PeerMessage::kClaim:
      return check_claim(message.claim());
    case PeerMessage::kRelease:
      return check_claim(message.release());
    case PeerMessage::kNoClaim:
      return check_claim(message.no_claim());
    case PeerMessage::kStatus:
      return check(message.status());
    case PeerMessage::kAssign:
      return check(message.assign());
    case PeerMessage::kDrop:
      return check_thread(message.drop());
    case PeerMessage::kEffects:
      return check(message.effects());
    case PeerMessage::kStored:
      return check_thread(message.stored());
    case PeerMessage::kKeeper:
      return check(message.keeper());
    case PeerMessage::kKeeperFilled:
      return check_thread(message.keeper_filled());
    case PeerMessage::kKeepImage:
      return check(message.keep_image());
    case PeerMessage::kKeepDeterminants:
      return check(message.keep_determinants());
    case PeerMessage::kKept:
      GW_TRY_VOID(require(is_hash_or_nothing(message.kept().parts()), "the parts of an image are named by 32 bytes"));
      return check_thread(message.kept());
    case PeerMessage::kWantImage:
      GW_TRY_VOID(require(is_hash(message.want_image().home()), "an image is asked for with its home"));
      return check_thread(message.want_image());
    case PeerMessage::kImageIs:
      return check(message.image_is());
    case PeerMessage::kAskKept:
      return check_list(message.ask_kept());
    case PeerMessage::kForget:
      return check_list(message.forget());
    case PeerMessage::kWantBlob:
      return require(is_hash(message.want_blob().hash()), "a blob is named by 32 bytes");
    case PeerMessage::kThreadFailed:
      GW_TRY_VOID(require(message.thread_failed().failure().size() <= 4096, "a sentence has at most 4096 bytes"));
      return check_thread(message.thread_failed());
    case PeerMessage::kBlob:
      return check(message.blob());
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
  return message;
}

Hash256 hash_of(const std::string& bytes) {
  Hash256 hash;
  GW_ASSERT(bytes.size() == hash.bytes.size());
  std::ranges::copy(as_bytes(bytes), hash.bytes.begin());
  return hash;
}

}  // namespace gw::wire
