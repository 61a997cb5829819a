#include "faults/byzantine_node.h"

#include <algorithm>
#include <array>

#include "base/reached.h"
#include "job/authority/authority.h"
#include "job/placing/search_query.h"
#include "wire/messages/peer_messages.h"
#include "wire/messages/worker_frames.h"

namespace gw::sim {
namespace {

using wire::pb::JobMessage;
using wire::pb::PeerMessage;
using Role = ByzantineNode::Role;

constexpr unsigned kRoles = 4;
constexpr std::array<std::uint64_t, 4> kRates{2, 5, 15, 50};

// The role in which a peer sends this message; workers send frames only.
Role role_of(JobMessage::KindCase kind) {
  switch (kind) {
    case JobMessage::kSearch:
    case JobMessage::kClaim:
    case JobMessage::kRelease:
    case JobMessage::kAssign:
    case JobMessage::kDrop:
    case JobMessage::kStored:
    case JobMessage::kKeeperChange:
    case JobMessage::kForget:
    case JobMessage::kInput:
    case JobMessage::kMails:
    case JobMessage::kFilesAre:
    case JobMessage::kRoster:
      return Role::home;
    case JobMessage::kKept:
    case JobMessage::kImageIs:
    case JobMessage::kAskKept:
    case JobMessage::kBlob:
      return Role::keeper;
    default:
      return Role::host;
  }
}

// The field that is not the envelope: a receiver's first check refuses every wrong version or boot, so lies there test nothing.
EncodedField* content_of(EncodedMessage& message) {
  constexpr std::uint32_t kFirstKind = 10;
  const auto found = std::ranges::find_if(message, [](const EncodedField& field) { return field.name >= kFirstKind; });
  return found == message.end() ? nullptr : &*found;
}

// Signs the content again if this peer had signed it and it has changed.
void sign(const WorldSigner& signer, const PublicKey& key, std::string_view title, const std::string& before, const std::string& content,
          std::string& signature) {
  const auto titled = [&](const std::string& text) {
    Bytes bytes(title.begin(), title.end());
    bytes.insert(bytes.end(), text.begin(), text.end());
    return bytes;
  };
  Signature present{};
  if (content == before || signature.size() != present.size()) return;
  std::ranges::copy(as_bytes(signature), present.begin());
  if (!signer.is_signed(key, titled(before), present)) return;
  signature = std::string(as_text(signer.sign(titled(content))));
}

}  // namespace

ByzantineNode::ByzantineNode(const PublicKey& key, Rng rng, Style style)
    : signer_(key),
      key_(key),
      rng_(rng),
      mutator_(Rng(rng_.next())),
      style_(style),
      roles_(1 + static_cast<unsigned>(rng_.below((1u << kRoles) - 1))),
      one_in_(kRates[rng_.below(kRates.size())]) {
  if (style_ == Style::crafty) roles_ |= mask_of(Role::home) | mask_of(Role::keeper);
}

void ByzantineNode::learn(const Bytes& message) {
  if (const auto read = read_message(message)) mutator_.learn(*read);
}

bool ByzantineNode::lies_in(const PeerMessage& message) const { return message.has_job() && lies_as(role_of(message.job().kind_case())); }

std::vector<Bytes> ByzantineNode::distort(const PeerMessage& message, Bytes encoded) {
  std::vector<Bytes> sent;
  if (PeerMessage crafted = message; style_ == Style::crafty && craft(crafted)) {
    if (auto bytes = wire::encode(crafted)) return {*std::move(bytes)};
  }
  auto tree = lies_in(message) && rng_.below(one_in_) == 0 ? read_message(encoded) : std::nullopt;
  EncodedField* content = tree ? content_of(*tree) : nullptr;
  // Half of the time the true message is sent too.
  if (content == nullptr || rng_.below(2) == 0) sent.push_back(std::move(encoded));
  if (content == nullptr) return sent;
  GW_REACHED("sim: a Byzantine peer spoke");
  mutator_.mutate(content->inner);
  sent.push_back(sign_again(message, write_message(*tree)));
  return sent;
}

// A home that assigns a task which the job does not have or says that its gang is the oldest of all, and a keeper that has determinants and
// not the image before them.
bool ByzantineNode::craft(PeerMessage& message) {
  JobMessage& job = *message.mutable_job();
  if (job.has_assign() && !job.assign().restore() && rng_.below(2) == 0) {
    job.mutable_assign()->set_task(static_cast<std::uint32_t>(rng_.below(wire::kMaxTasks)));
  } else if (job.image_is().determinants_size() > 0 && !job.image_is().image_root().empty()) {
    job.mutable_image_is()->clear_image_root();
  } else if (JobMessage::Query query; query.ParseFromString(job.search().query()) && query.held() && rng_.below(2) == 0) {
    query.set_submitted_at_ns(1);
    JobMessage::Search& search = *job.mutable_search();
    sign(signer_, key_, job::kSearchTitle, std::exchange(*search.mutable_query(), query.SerializeAsString()), search.query(),
         *search.mutable_signature());
  } else {
    return false;
  }
  GW_REACHED("sim: a crafty peer spoke");
  return true;
}

Bytes ByzantineNode::sign_again(const PeerMessage& original, Bytes mutated) const {
  PeerMessage message;
  if (!message.ParseFromArray(mutated.data(), static_cast<int>(mutated.size())) || !message.has_job()) return mutated;
  const JobMessage& before = original.job();
  JobMessage& job = *message.mutable_job();
  const auto sign_grant = [&](const wire::pb::SignedGrant& old, wire::pb::SignedGrant& grant) {
    sign(signer_, key_, job::kGrantTitle, old.grant(), grant.grant(), *grant.mutable_signature());
  };
  if (job.assign().has_grant()) sign_grant(before.assign().grant(), *job.mutable_assign()->mutable_grant());
  if (job.keeper_change().has_grant()) sign_grant(before.keeper_change().grant(), *job.mutable_keeper_change()->mutable_grant());
  if (job.roster().has_roster()) {
    wire::pb::SignedRoster& roster = *job.mutable_roster()->mutable_roster();
    sign(signer_, key_, job::kRosterTitle, before.roster().roster().roster(), roster.roster(), *roster.mutable_signature());
  }
  if (job.has_search()) {
    JobMessage::Search& search = *job.mutable_search();
    sign(signer_, key_, job::kSearchTitle, before.search().query(), search.query(), *search.mutable_signature());
  }
  auto encoded = wire::encode(message);
  return encoded ? *std::move(encoded) : mutated;
}

bool ByzantineNode::distort(const WorkerOutput& output, Bytes& frame, Bytes& image) {
  if (!lies_as(Role::worker) || rng_.below(one_in_) != 0) return false;
  GW_REACHED("sim: a Byzantine worker spoke");
  frame = wire::encode(output.frame).value();
  image = output.image;
  if (!image.empty() && rng_.below(2) == 0) {
    image[rng_.below(image.size())] ^= static_cast<std::uint8_t>(1u << rng_.below(8));
    return true;
  }
  auto tree = read_message(frame);
  if (!tree || tree->empty()) return false;
  mutator_.mutate(*tree);
  frame = write_message(*tree);
  return true;
}

}  // namespace gw::sim
