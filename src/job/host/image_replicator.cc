#include "job/host/image_replicator.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {
namespace {

constexpr int kDeterminantsPerMessage = 8192;

}  // namespace

ImageReplicator::ImageReplicator(const Config& config, const Environment& environment, const Name& name, const std::vector<Keeper>& keepers,
                                 Restored restored)
    : config_(config),
      environment_(environment),
      name_(name),
      stable_(std::move(restored.image)),
      log_(std::move(restored.determinants)),
      stable_determinants_(recorded()) {
  for (const Keeper& keeper : keepers) replicas_.push_back({.keeper = keeper});
}

void ImageReplicator::close(Actions& out) {
  for (std::optional<SavedImage>* image : {&initial_, &stable_, &replicating_, &queued_, &last_spawned_})
    release(environment_.images, environment_.job, *image, out);
  for (const auto& [spawn, image] : spawned_) environment_.images.release({environment_.job, image.root}, out);
}

const ImageReplicator::Replica* ImageReplicator::filling() const {
  const bool any = replicas_.back().role != Role::on_record;
  return any ? &replicas_.back() : nullptr;
}

ImageReplicator::Replica* ImageReplicator::filling() {
  const bool any = replicas_.back().role != Role::on_record;
  return any ? &replicas_.back() : nullptr;
}

std::optional<PeerId> ImageReplicator::stalled(Time now) const {
  const auto stalls = [&](const Replica& replica) {
    const bool silent = replica.waits_since != kNever && now - replica.waits_since > config_.patience;
    return replica.role != Role::filled && (silent || replica.refuses);
  };
  const auto found = std::ranges::find_if(replicas_, stalls);
  return found == replicas_.end() ? std::nullopt : std::optional(found->keeper.peer);
}

bool ImageReplicator::is_sending(const Hash256& root) const {
  const auto of_child = [&](const auto& entry) { return entry.second.root == root; };
  return (replicating_ && replicating_->root == root) || (queued_ && queued_->root == root) || std::ranges::any_of(spawned_, of_child);
}

ImageTrees::Size ImageReplicator::held() const {
  ImageTrees::Size sum;
  for (const std::optional<SavedImage>* image : {&initial_, &stable_, &replicating_, &queued_}) {
    if (*image && (*image)->size.bytes > sum.bytes) sum = (*image)->size;
  }
  for (const auto& [spawn, image] : spawned_) sum += image.fresh;
  return sum;
}

// --- what the worker brings

void ImageReplicator::set_initial(const SavedImage& image, Actions& out) {
  initial_ = image;
  release(environment_.images, environment_.job, last_spawned_, out);
}

ImageReplicator::Progress ImageReplicator::add_image(Time now, SavedImage image, Actions& out) {
  if (!replicating_) {
    replicating_ = std::move(image);
  } else {
    GW_REACHED("host: an image came while another was on its way");
    release(environment_.images, environment_.job, queued_, out);
    queued_ = std::move(image);
  }
  release(environment_.images, environment_.job, last_spawned_, out);
  sync(now, out);
  return advance(now, out);
}

Status ImageReplicator::add_spawned(Time now, std::uint64_t spawn, const std::array<SavedImage, 2>& image, Actions& out) {
  release(environment_.images, environment_.job, last_spawned_, out);
  last_spawned_ = image[0];
  if (spawned_.size() >= config_.spawned || !spawned_.try_emplace(spawn, image[1]).second) {
    environment_.images.release({environment_.job, image[1].root}, out);
    return fail(Kind::invalid, "the worker sent an image for spawn {} of thread {} beyond what it may", spawn, name_.thread.value());
  }
  sync(now, out);
  return ok();
}

void ImageReplicator::set_stored(Time now, std::uint64_t spawns, Actions& out) {
  stored_spawns_ = spawns;
  while (!spawned_.empty() && spawned_.begin()->first <= spawns) {
    environment_.images.release({environment_.job, spawned_.begin()->second.root}, out);
    for (Replica& replica : replicas_) replica.spawned.erase(spawned_.begin()->first);
    spawned_.erase(spawned_.begin());
  }
  for (Replica& replica : replicas_) note_answer(now, replica, false);
  check_filled(now, out);  // it may have lacked nothing else
}

Status ImageReplicator::add_determinant(const Determinant& determinant) {
  if (determinant.index() != recorded())
    return fail(Kind::invalid, "the worker sent determinant {} of thread {} where {} is next", determinant.index(), name_.thread.value(),
                recorded());
  // A keeper takes kMaxDeterminants after an image, and a gate waits for the next image before.
  if (log_.size() >= static_cast<std::size_t>(wire::kMaxDeterminants))
    return fail(Kind::invalid, "the worker sent determinant {} of thread {} without waiting for an image", determinant.index(),
                name_.thread.value());
  log_.push_back(determinant);
  return ok();
}

// --- sending

// A keeper on record gets the newest image that may be kept and is complete on this disk, because the keeper will fetch it from here. A
// keeper that is being filled gets the stable image.
const SavedImage* ImageReplicator::image_for(const Replica& replica) const {
  const bool may_be_kept = replicating_ && replicating_->after_spawn <= stored_spawns_ && is_here(*replicating_);
  if (replica.role == Role::on_record && may_be_kept) return &*replicating_;
  return stable_ ? &*stable_ : nullptr;
}

bool ImageReplicator::is_here(const SavedImage& image) const { return environment_.images.complete({environment_.job, image.root}); }

bool ImageReplicator::has(const Replica& replica, std::uint64_t spawn) {
  const auto found = replica.spawned.find(spawn);
  return found != replica.spawned.end() && found->second;
}

bool ImageReplicator::lacks(const Replica& replica) const {
  const SavedImage* image = image_for(replica);
  for (const auto& [spawn, child] : spawned_)
    if (!has(replica, spawn) && is_here(child)) return true;
  return (image != nullptr && replica.image != image->root) || replica.determinants < recorded() || replica.role == Role::filled;
}

Time ImageReplicator::due() const {
  Time due = kNever;
  for (const Replica& replica : replicas_)
    if (lacks(replica)) due = std::min(due, replica.resend_at);
  return due;
}

void ImageReplicator::sync(Time now, Actions& out) {
  for (Replica& replica : replicas_) {
    const bool resend = now >= replica.resend_at;
    sync(now, replica, out);
    if (replica.role == Role::filled && resend) send_filled(replica, now, out);
  }
}

void ImageReplicator::sync(Time now, Replica& replica, Actions& out) {
  const SavedImage* image = image_for(replica);
  const bool resend = now >= replica.resend_at;
  const bool with_grant = !replica.answered || resend;
  if (resend) replica.sent = replica.determinants;
  bool sent = false;
  if (image != nullptr && replica.image != image->root && (resend || replica.offered != image->root)) {
    offer(now, replica, *image, with_grant, out);
    sent = true;
  }
  if (send_determinants(replica, with_grant, out)) sent = true;
  if (offer_spawned(replica, resend, with_grant, out)) sent = true;
  // The first message keeps its resend time: later ones do not delay it.
  const bool waits = replica.waits_since != kNever;
  if (resend || (sent && !waits)) replica.resend_at = now + config_.retry;
  if (sent) replica.waits_since = std::min(replica.waits_since, now);
}

void ImageReplicator::offer(Time now, Replica& replica, const SavedImage& image, bool with_grant, Actions& out) const {
  if (replica.offered != image.root) replica.offered_at = now;
  replica.offered = image.root;
  out.send(replica.keeper.peer, environment_.job, keep_image_message(replica, image, with_grant));
}

JobMessage ImageReplicator::keep_image_message(const Replica& replica, const SavedImage& image, bool with_grant) const {
  JobMessage message;
  JobMessage::KeepImage& keep = *message.mutable_keep_image();
  keep.set_thread(name_.thread.value());
  keep.set_epoch(name_.epoch);
  keep.set_keeper_generation(replica.keeper.generation);
  keep.set_image_root(wire::bytes_of(image.root));
  keep.set_determinants(image.determinants);
  if (with_grant) *keep.mutable_grant() = replica.keeper.grant;
  return message;
}

// False: the replica was told of every image of a child already.
bool ImageReplicator::offer_spawned(Replica& replica, bool resend, bool with_grant, Actions& out) const {
  bool sent = false;
  for (const auto& [spawn, image] : spawned_) {
    if (!is_here(image) || has(replica, spawn) || (replica.spawned.contains(spawn) && !resend)) continue;
    replica.spawned[spawn] = false;
    JobMessage message = keep_image_message(replica, image, with_grant);
    message.mutable_keep_image()->set_spawn(spawn);
    out.send(replica.keeper.peer, environment_.job, std::move(message));
    sent = true;
  }
  return sent;
}

// False: the replica was sent every determinant already.
bool ImageReplicator::send_determinants(Replica& replica, bool with_grant, Actions& out) const {
  if (log_.empty() || replica.sent > log_.back().index()) return false;
  JobMessage message;
  JobMessage::KeepDeterminants& keep = *message.mutable_keep_determinants();
  // No gaps: the place of a determinant follows from its number.
  const std::uint64_t first = std::max(replica.sent, log_.front().index());
  for (auto determinant = log_.begin() + static_cast<std::ptrdiff_t>(first - log_.front().index());
       determinant != log_.end() && keep.determinants_size() < kDeterminantsPerMessage; ++determinant)
    *keep.add_determinants() = *determinant;
  replica.sent = keep.determinants().rbegin()->index() + 1;
  keep.set_thread(name_.thread.value());
  keep.set_epoch(name_.epoch);
  keep.set_keeper_generation(replica.keeper.generation);
  if (with_grant) *keep.mutable_grant() = replica.keeper.grant;
  out.send(replica.keeper.peer, environment_.job, std::move(message));
  return true;
}

void ImageReplicator::send_filled(Replica& replica, Time now, Actions& out) const {
  replica.resend_at = now + config_.retry;
  JobMessage message;
  message.mutable_keeper_filled()->set_thread(name_.thread.value());
  message.mutable_keeper_filled()->set_epoch(name_.epoch);
  message.mutable_keeper_filled()->set_keeper_generation(replica.keeper.generation);
  out.send(environment_.home, environment_.job, std::move(message));
}

// --- what keepers have

ImageReplicator::Progress ImageReplicator::on_kept(Time now, const PeerId& from, const JobMessage::Kept& kept, Actions& out) {
  const auto replica = std::ranges::find_if(
      replicas_, [&](const Replica& one) { return one.keeper.peer == from && one.keeper.generation == kept.keeper_generation(); });
  if (replica == replicas_.end()) return {};
  replica->answered = true;
  replica->refuses = !kept.refused().empty();
  if (GW_BUG(42)) replica->waits_since = kNever;
  const bool comes = kept.coming() > std::exchange(replica->coming, std::max(replica->coming, kept.coming()));
  if (comes && now - replica->offered_at < config_.longest) replica->waits_since = std::max(replica->waits_since, now);
  if (kept.spawn() != 0) {
    const auto child = spawned_.find(kept.spawn());
    const bool has_it = child != spawned_.end() && kept.image_root() == wire::bytes_of(child->second.root);
    if (has_it) replica->spawned[kept.spawn()] = true;
    note_answer(now, *replica, has_it);
    return advance(now, out);
  }
  if (kept.determinants() > recorded()) return {};  // it cannot have more than there are
  // A late answer names fewer determinants than the keeper has by now: their number never falls.
  if (kept.determinants() < replica->determinants) return {};
  const std::optional<Hash256> image = kept.image_root().empty() ? std::nullopt : std::optional(wire::hash_of(kept.image_root()));
  const bool more = kept.determinants() > replica->determinants || image != replica->image;
  replica->determinants = kept.determinants();
  replica->image = image;
  note_answer(now, *replica, more);
  return advance(now, out);
}

// A keeper that answers and has no more than before counts as one that does not answer.
void ImageReplicator::note_answer(Time now, Replica& replica, bool more) const {
  if (!lacks(replica)) {
    replica.waits_since = kNever;
  } else if (more) {
    replica.waits_since = now;
  }
}

// True between the report to home that another keeper is filled and home's answer: home may have recorded that keeper or not.
bool ImageReplicator::home_decides() const {
  const Replica* target = filling();
  return target != nullptr && target->role == Role::filled;
}

std::optional<Hash256> ImageReplicator::spawned(std::uint64_t spawn) const {
  const auto found = spawned_.find(spawn);
  return found == spawned_.end() ? std::nullopt : std::optional(found->second.root);
}

bool ImageReplicator::may_spawn(std::uint64_t spawn) const {
  if (!spawned_.contains(spawn) || GW_BUG(50)) return true;  // home has stored it before
  const auto has_it = [&](const Replica& replica) { return replica.role != Role::on_record || has(replica, spawn); };
  return !home_decides() && std::ranges::all_of(replicas_, has_it);
}

// Promotes images, determinants and keepers as far as the replicas' acknowledgements allow.
ImageReplicator::Progress ImageReplicator::advance(Time now, Actions& out) {
  Progress progress;
  if (!home_decides()) {
    const auto on_record = [&](const auto& has) {
      if (GW_BUG(181)) return has(replicas_.front());
      return std::ranges::all_of(replicas_, [&](const Replica& replica) { return replica.role != Role::on_record || has(replica); });
    };
    while (replicating_ && on_record([&](const Replica& replica) { return replica.image == replicating_->root; })) {
      promote(out);
      progress.image = stable_->root;
    }
    std::uint64_t kept = recorded();
    for (const Replica& replica : replicas_)
      if (replica.role == Role::on_record) kept = std::min(kept, replica.determinants);
    if (kept > stable_determinants_) progress.determinants = stable_determinants_ = kept;
  }
  check_filled(now, out);
  if (progress.image) sync(now, out);  // the next image, if one waits
  return progress;
}

void ImageReplicator::promote(Actions& out) {
  std::optional<SavedImage> old = std::exchange(stable_, std::exchange(replicating_, std::exchange(queued_, std::nullopt)));
  while (!log_.empty() && log_.front().index() < stable_->determinants) log_.pop_front();
  release(environment_.images, environment_.job, old, out);
  release(environment_.images, environment_.job, initial_, out);
}

void ImageReplicator::check_filled(Time now, Actions& out) {
  Replica* target = filling();
  if (target == nullptr || target->role == Role::filled) return;
  const bool has_image = !stable_ || target->image == stable_->root;
  const bool has_children = std::ranges::all_of(spawned_, [&](const auto& entry) { return has(*target, entry.first); });
  if ((!has_image || !has_children || target->determinants < stable_determinants_) && !GW_BUG(8)) return;
  GW_REACHED("host: a new keeper has everything");
  target->role = Role::filled;
  send_filled(*target, now, out);
}

// --- who keeps

// Home's record: a keeper that was filled may be on it now, and others may have been taken off.
void ImageReplicator::set_current(const JobMessage::KeeperChange& change) {
  const auto is_current = [&](const Replica& replica) {
    return std::ranges::find(change.current(), replica.keeper.peer.bytes()) != change.current().end();
  };
  if (Replica* target = filling(); target != nullptr && is_current(*target)) target->role = Role::on_record;
  const bool any_stays = std::ranges::any_of(replicas_, [&](const Replica& one) { return one.role == Role::on_record && is_current(one); });
  if (any_stays) std::erase_if(replicas_, [&](const Replica& one) { return one.role == Role::on_record && !is_current(one); });
  // Another one is to be filled, or none.
  if (const Replica* target = filling();
      target != nullptr && replicas_.size() > 1 &&
      (change.target() != target->keeper.peer.bytes() || change.keeper_generation() > target->keeper.generation))
    replicas_.pop_back();
}

ImageReplicator::Progress ImageReplicator::on_keeper_change(Time now, const JobMessage::KeeperChange& change, Actions& out) {
  if (change.order() < order_) return {};
  order_ = change.order();
  set_current(change);
  const bool known = std::ranges::any_of(replicas_, [&](const Replica& one) { return one.keeper.peer.bytes() == change.target(); });
  if (!change.target().empty() && !known) {
    replicas_.push_back(
        {.keeper = {PeerId::from(change.target()), change.keeper_generation(), change.grant()}, .role = Role::filling, .resend_at = now});
    check_filled(now, out);
  }
  const Progress progress = advance(now, out);
  sync(now, out);
  return progress;
}

}  // namespace gw::job
