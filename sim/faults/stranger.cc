#include "faults/stranger.h"

#include "base/reached.h"
#include "fake_guest.h"
#include "job/images/new_image.h"
#include "job/placing/search_query.h"
#include "overlay/membership/descriptor.h"
#include "wire/grid_name.h"

namespace gw::sim {

using wire::pb::JobMessage;

namespace {

constexpr std::uint32_t kWantedSlots = 64;
constexpr int kImagesAtOnce = 3;

}  // namespace

Stranger::Stranger(const SigningKey& key, std::uint64_t seed, std::vector<Victim> victims)
    : key_(key),
      public_key_(key.public_key()),
      self_{sha256(public_key_)},
      signer_(public_key_),
      victims_(std::move(victims)),
      nonce_(seed),
      kept_job_(new_job()),
      roster_(job::JobId::from(kept_job_), public_key_, signer_, 1) {
  roster_.add_host(self_);
  for (const Victim& victim : victims_) roster_.add_keeper(victim.id);
  signed_roster_ = roster_.take_change().value();
}

std::string Stranger::new_job() {
  wire::pb::JobCharter charter;
  charter.set_nonce(++nonce_);
  charter.set_first_home(self_.bytes());
  charter.set_manifest(wire::bytes_of(sha256(public_key_)));
  const Bytes bytes = job::Charter::sign(charter, key_);
  const std::string job = wire::bytes_of(sha256(bytes));
  GW_ASSERT(charters_[job].ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return job;
}

JobMessage Stranger::about(const std::string& job) const {
  JobMessage message;
  message.set_job(job);
  message.set_term(job::Authority::kFirstTerm);
  return message;
}

std::vector<Stranger::Told> Stranger::speak() {
  GW_REACHED("sim: a stranger spoke");
  std::vector<Told> all;
  const std::string fresh = new_job();
  JobMessage proof = about(kept_job_);
  *proof.mutable_roster()->mutable_charter() = charters_.at(kept_job_);
  *proof.mutable_roster()->mutable_roster() = signed_roster_;
  for (const Victim& victim : victims_) {
    if (const auto held = claims_.find(victim.node); held != claims_.end()) {
      JobMessage renewal = about(held->second.first);
      renewal.mutable_claim()->set_claim(held->second.second);
      all.push_back({victim.node, std::move(renewal)});
    } else {
      all.push_back({victim.node, next_search(fresh)});
    }
    all.push_back({victim.node, proof});
    for (int i = 0; i < kImagesAtOnce; ++i) all.push_back({victim.node, next_image(victim.id)});
  }
  return all;
}

JobMessage Stranger::next_search(const std::string& job) {
  overlay::Descriptor self{.key = public_key_, .incarnation = {1, 1}};
  overlay::sign(wire::open_grid("world"), signer_, self);
  wire::pb::Descriptor home;
  overlay::write(self, home);
  JobMessage::Query query;
  query.set_job(job);
  query.set_round((std::uint64_t{1} << 32) + ++rounds_);  // of its only boot
  query.set_radius_ns(wire::kWholeGridRadius);
  query.set_slots(kWantedSlots);
  const job::Charter charter = job::Charter::check(as_bytes(charters_.at(job).SerializeAsString())).value();
  JobMessage message = job::search_message(charter, query, home, wire::kMaxSearchHops, signer_);
  message.set_job(job);
  message.set_term(job::Authority::kFirstTerm);
  return message;
}

JobMessage Stranger::next_image(const job::PeerId& keeper) {
  const ThreadId thread{next_thread_++};
  const GuestState state{.program = thread.value(), .ancestor = thread.value()};
  const auto gate = job::EffectGate::begin(thread, 1, {}).value();
  const auto encoded = std::make_shared<const Bytes>(make_image(state, gate, sha256(public_key_), StaticPage::included));
  const job::NewImage image = job::check_new_image(*encoded, encoded).value();
  for (const auto& [hash, bytes] : image.fresh) blobs_[wire::bytes_of(hash)] = bytes.str();
  JobMessage message = about(kept_job_);
  JobMessage::KeepImage& keep = *message.mutable_keep_image();
  keep.set_thread(thread.value());
  keep.set_epoch(1);
  keep.set_keeper_generation(1);
  keep.set_image_root(wire::bytes_of(image.root));
  *keep.mutable_grant() = roster_.grant({.thread = thread, .epoch = 1, .keeper_generation = 1, .host = self_, .keepers = {keeper}});
  return message;
}

std::vector<Stranger::Told> Stranger::hear(std::size_t from, const JobMessage& message) {
  if (!owns(message.job())) return {};
  JobMessage answer = about(message.job());
  if (message.has_offer()) {
    GW_REACHED("sim: a stranger got slots");
    claims_[from] = {message.job(), message.offer().claim()};
    answer.mutable_claim()->set_claim(message.offer().claim());
  } else if (message.has_no_claim()) {
    claims_.erase(from);
    return {};
  } else if (const auto blob = blobs_.find(message.want_blob().hash()); message.has_want_blob() && blob != blobs_.end()) {
    answer.mutable_blob()->set_hash(blob->first);
    answer.mutable_blob()->set_bytes(blob->second);
  } else {
    return {};
  }
  return {{from, std::move(answer)}};
}

}  // namespace gw::sim
