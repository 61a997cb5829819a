#include "job/images/keeper.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/records.h"

namespace gw::job {
namespace {

// Else a keeper would refuse what a thread may record between two images, and home would replace it by another that refuses.
static_assert(kMaxDeterminantsAfterImage + kMaxDeterminantsPerCall <= wire::kMaxDeterminants);

RecordKey kept_key(const Keeper::Name& name) { return {.kind = RecordKind::kept, .job = name.first, .thread = name.second}; }
RecordKey batch_key(const Keeper::Name& name, std::uint64_t first) {
  return {.kind = RecordKind::determinants, .job = name.first, .thread = name.second, .number = first};
}

}  // namespace

Status Keeper::recover(Time now, const Name& name, const KeeperRecords& records, const ImageTrees::ReadBlob& read, Actions& out) {
  if (environment_.authorities.find(name.first) == nullptr) {
    auto charter = Charter::check(as_bytes(records.kept.charter()));
    if (!charter || charter->id() != name.first) return drop_records(name, records, out);
    environment_.authorities.add(*std::move(charter));
  }
  const bool has_image = !records.kept.image_root().empty();
  if (has_image && !environment_.images.adopt({name.first, wire::hash_of(records.kept.image_root())}, read)) {
    GW_REACHED("keeper: an image was lost");
    return drop_records(name, records, out);
  }
  environment_.authorities.hold(name.first);
  Thread& thread = threads_[name];
  if (records.kept.host().size() == sizeof(Hash256)) thread.host = PeerId::from(records.kept.host());
  if (records.kept.parent() != 0) thread.spawned = Spawn{ThreadId{records.kept.parent()}, records.kept.spawn()};
  thread.epoch = records.kept.epoch();
  thread.keeper_generation = records.kept.keeper_generation();
  thread.base = records.kept.determinants();
  thread.last_seen = now;
  if (has_image) {
    thread.root = wire::hash_of(records.kept.image_root());
    thread.size = environment_.images.size({name.first, *thread.root});
    thread.size.bytes = records.kept.bytes();
  }
  for (const auto& [first, batch] : records.determinants) {
    thread.batches[first] = static_cast<std::uint64_t>(batch.determinants_size());
    for (const Determinant& determinant : batch.determinants())
      if (determinant.index() == thread.next()) thread.log.push_back(determinant);
  }
  thread.charged = stored_for(thread.size, thread.log.size());
  environment_.budget.adopt(account_of(name), thread.charged);
  ask_at_ = now;
  return ok();
}

Status Keeper::drop_records(const Name& name, const KeeperRecords& records, Actions& out) const {
  out.record(kept_key(name).encode(), std::nullopt);
  for (const auto& [first, batch] : records.determinants) out.record(batch_key(name, first).encode(), std::nullopt);
  return fail(Kind::corrupt, "what was kept here of thread {} of job {} is damaged or gone, and so lost", name.second.value(),
              name.first.brief());
}

std::optional<Keeper::Bearer> Keeper::bearer(const Name& name) const {
  const auto found = threads_.find(name);
  if (found == threads_.end() || found->second.spawned) return std::nullopt;
  const Thread& thread = found->second;
  return Bearer{thread.host, thread.epoch, thread.keeper_generation};
}

std::optional<Hash256> Keeper::whole_image(const Name& name) const {
  const auto found = threads_.find(name);
  return found == threads_.end() || !found->second.log.empty() ? std::nullopt : found->second.root;
}

// Kind::overloaded: there is no room for one more.
Result<Keeper::Thread*> Keeper::find_or_add(const Name& name) {
  if (const auto found = threads_.find(name); found != threads_.end()) return &found->second;
  const StoredForOthers one{.threads = 1};
  GW_TRY_VOID(environment_.budget.change(account_of(name), {}, one));
  environment_.authorities.hold(name.first);
  Thread& thread = threads_[name];
  thread.charged = one;
  return &thread;
}

// --- the budget

Budget::Account Keeper::account_of(const Name& name) const {
  const Authority& authority = *environment_.authorities.find(name.first);
  return {name.first, authority.leader(), authority.charter().grid()};
}

// Charges the budget with what is kept of the thread now, and with `more_determinants` more.
Status Keeper::charge(const Name& name, Thread& thread, std::uint64_t more_determinants) {
  ImageTrees::Size size = thread.size;
  if (thread.offer) size += thread.offer->size;
  const StoredForOthers now = stored_for(size, thread.log.size() + more_determinants);
  GW_TRY_VOID(environment_.budget.change(account_of(name), thread.charged, now));
  thread.charged = now;
  return ok();
}

Status Keeper::admit_image(const Name& name, const ImageTrees::Size& size) {
  Thread& thread = threads_.at(name);
  thread.offer->size = size;
  Status charged = charge(name, thread);
  if (!charged) thread.offer->size = {};
  return charged;
}

void Keeper::refuse(const Name& name, const Bearer& bearer, const std::string& sentence, Actions& out) const {
  GW_REACHED("keeper: something was refused because it is over budget");
  const Thread nothing;
  const auto found = threads_.find(name);
  JobMessage message = kept_message(name, found == threads_.end() ? nothing : found->second);
  JobMessage::Kept& kept = *message.mutable_kept();
  kept.set_epoch(bearer.epoch);
  kept.set_keeper_generation(bearer.keeper_generation);
  kept.set_refused(sentence);
  out.after_disk(to_peer(bearer.host, name.first, std::move(message)));
}

// --- who writes

// Whether the bearer's grant is newer than that of the last writer. A grant of the thread itself outranks any grant of its parent.
bool Keeper::outranks(const Bearer& bearer, const Thread& thread) {
  return thread.spawned || std::pair(bearer.epoch, bearer.keeper_generation) > std::pair(thread.epoch, thread.keeper_generation);
}

// The thread, if the bearer may write to it. A bearer of a newer epoch begins with nothing.
Keeper::Thread* Keeper::admit(Time now, const Name& name, const Bearer& bearer, Actions& out) {
  const Result<Thread*> found = find_or_add(name);
  if (!found) {
    refuse(name, bearer, found.error().detail, out);
    return nullptr;
  }
  Thread* thread = *found;
  const bool newer = outranks(bearer, *thread);
  const bool same = thread->host == bearer.host &&
                    std::pair(bearer.epoch, bearer.keeper_generation) == std::pair(thread->epoch, thread->keeper_generation);
  if (!newer && !same) {
    GW_REACHED("keeper: a zombie was refused");
    return nullptr;
  }
  thread->last_seen = now;
  if (newer) {
    // The same run of the thread writes on under a higher generation: its image is still the last one, and may be the only one. A run that
    // has only asked here goes on from what another keeper had.
    const bool same_life = thread->host == bearer.host && thread->epoch == bearer.epoch && !thread->spawned && thread->written;
    if (!same_life) clear(name, *thread, Clear::state, out);
    take_over(*thread, bearer);
    write(name, *thread, out);
  }
  thread->written = true;
  return thread;
}

// A child of a thread for which the bearer may write. The one that an older epoch of the parent has spawned is replaced.
Keeper::Thread* Keeper::admit_child(Time now, const Name& parent, const Bearer& bearer, std::uint64_t spawn, Actions& out) {
  if (admit(now, parent, bearer, out) == nullptr) return nullptr;
  const Name name{parent.first, child_of(parent.second, spawn)};
  const Result<Thread*> found = find_or_add(name);
  if (!found) {
    Thread none;
    none.spawned = Spawn{parent.second, spawn};
    JobMessage message = kept_message(name, none);
    message.mutable_kept()->set_epoch(bearer.epoch);
    message.mutable_kept()->set_keeper_generation(bearer.keeper_generation);
    message.mutable_kept()->set_refused(found.error().detail);
    out.after_disk(to_peer(bearer.host, name.first, std::move(message)));
    return nullptr;
  }
  Thread& child = **found;
  const bool fresh = child.epoch == 0;
  // The record of the parent may be forgotten, and with it the parent's last epoch; the record of the child still has its epoch.
  const bool older = std::pair(bearer.epoch, bearer.keeper_generation) < std::pair(child.epoch, child.keeper_generation);
  if (!fresh && (older || !child.spawned)) {
    GW_REACHED("keeper: the image of a child came too late");
    return nullptr;
  }
  child.last_seen = now;
  const bool same = child.host == bearer.host && child.epoch == bearer.epoch;
  if (same && child.keeper_generation == bearer.keeper_generation) return &child;
  if (!fresh && !same) clear(name, child, Clear::all, out);
  take_over(child, bearer);
  child.spawned = Spawn{parent.second, spawn};
  write(name, child, out);
  return &child;
}

void Keeper::take_over(Thread& thread, const Bearer& bearer) {
  thread.spawned.reset();
  thread.answered_at.reset();
  thread.written = false;
  thread.host = bearer.host;
  thread.epoch = bearer.epoch;
  thread.keeper_generation = bearer.keeper_generation;
}

void Keeper::write(const Name& name, const Thread& thread, Actions& out) const {
  wire::pb::KeptRecord record;
  record.set_charter(environment_.authorities.find(name.first)->charter().bytes());
  record.set_host(thread.host.bytes());
  if (thread.spawned) {
    record.set_parent(thread.spawned->parent.value());
    record.set_spawn(thread.spawned->number);
  }
  record.set_epoch(thread.epoch);
  record.set_keeper_generation(thread.keeper_generation);
  record.set_determinants(thread.base);
  record.set_bytes(thread.size.bytes);
  if (thread.root) record.set_image_root(wire::bytes_of(*thread.root));
  out.record(kept_key(name).encode(), record.SerializeAsString());
}

// The message names a child without a host of its own by its parent.
JobMessage Keeper::kept_message(const Name& name, const Thread& thread) const {
  JobMessage message;
  JobMessage::Kept& kept = *message.mutable_kept();
  kept.set_thread(thread.spawned ? thread.spawned->parent.value() : name.second.value());
  kept.set_spawn(thread.spawned ? thread.spawned->number : 0);
  kept.set_epoch(thread.epoch);
  kept.set_keeper_generation(thread.keeper_generation);
  kept.set_determinants(thread.next());
  if (thread.root) kept.set_image_root(wire::bytes_of(*thread.root));
  if (thread.offer) kept.set_coming(thread.offer->progress);
  return message;
}

void Keeper::acknowledge(const PeerId& to, const Name& name, const Thread& thread, Actions& out) const {
  JobMessage message = kept_message(name, thread);
  if (GW_BUG(10)) return out.send(to, name.first, std::move(message));
  out.after_disk(to_peer(to, name.first, std::move(message)));
}

// --- images

void Keeper::on_keep_image(Time now, const JobId& job, const Bearer& bearer, const JobMessage::KeepImage& message, Actions& out) {
  const PeerId& from = bearer.host;
  const ThreadId writer{message.thread()};
  const bool of_child = message.spawn() != 0;
  const Name name{job, of_child ? child_of(writer, message.spawn()) : writer};
  Thread* thread = of_child ? admit_child(now, {job, writer}, bearer, message.spawn(), out) : admit(now, name, bearer, out);
  if (thread == nullptr) return;
  const Hash256 root = wire::hash_of(message.image_root());
  if (thread->root == root) return acknowledge(from, name, *thread, out);
  if (const Hash256* fetched = fetches_.find(name); fetched != nullptr && *fetched == root && thread->offer->from == from) {
    // A large image takes longer than the patience of the host: tell the host that parts of it arrive.
    const std::uint64_t progress = environment_.images.progress();
    if (std::exchange(thread->offer->progress, progress) < progress) acknowledge(from, name, *thread, out);
    return;
  }
  end_fetch(name, *thread, out);
  const std::uint64_t determinants = of_child ? 0 : message.determinants();
  if (determinants < thread->base) return;  // an old offer that came late
  thread->offer = Offer{.determinants = determinants, .from = from, .progress = environment_.images.progress()};
  if (const Status begun = fetches_.begin(now, name, root, from, out); !begun) {
    thread->offer.reset();
    refuse(name, bearer, begun.error().detail, out);
  }
}

void Keeper::end_fetch(const Name& name, Thread& thread, Actions& out) {
  fetches_.cancel(name, out);
  thread.offer.reset();
  GW_ASSERT(charge(name, thread).has_value());  // less than before
}

void Keeper::on_image_change(const ImageTrees::Change& change, Actions& out) {
  on_fetched(fetches_.on_change(change, out), out);
  if (change.what != ImageTrees::Change::What::lost) return;
  // An image without one of its parts is no image: its thread is kept no longer, which its home learns when it asks.
  std::vector<Name> lost;
  for (const auto& [name, thread] : threads_)
    if (name.first == change.name.job && thread.root == change.name.root) lost.push_back(name);
  for (const Name& name : lost) {
    GW_REACHED("keeper: a part of an image was lost");
    out.notify(RecordsDamaged{
        fmt::format("the image of thread {} of job {} is lost: {}", name.second.value(), name.first.brief(), change.sentence)});
    forget(threads_.find(name), out);
  }
}

void Keeper::on_fetched(std::vector<ImageFetches::Done> done, Actions& out) {
  for (ImageFetches::Done& one : done) {
    Thread& thread = threads_.at(one.name);
    if (one.root) {
      commit(one.name, thread, *one.root, out);
      continue;
    }
    // The host offers the image again, unless there is no room.
    const PeerId from = std::exchange(thread.offer, std::nullopt)->from;
    GW_ASSERT(charge(one.name, thread).has_value());
    if (one.root.error().kind == Kind::overloaded)
      refuse(one.name, {from, thread.epoch, thread.keeper_generation}, one.root.error().detail, out);
  }
}

// The new image is complete on disk and replaces the old one.
void Keeper::commit(const Name& name, Thread& thread, const Hash256& root, Actions& out) {
  GW_REACHED("keeper: an image is kept");
  const std::optional<Hash256> old = std::exchange(thread.root, root);
  const Offer offer = *std::exchange(thread.offer, std::nullopt);
  ++thread.changes;
  thread.size = environment_.images.size({name.first, root});
  thread.size.bytes = std::min(thread.size.bytes, offer.size.bytes);
  while (!thread.log.empty() && thread.log.front().index() < offer.determinants) thread.log.pop_front();
  thread.base = offer.determinants;
  if (GW_BUG(9) || (!thread.log.empty() && thread.log.front().index() != thread.base)) thread.log.clear();
  drop_batches(name, thread, out);
  GW_ASSERT(charge(name, thread).has_value());  // the budget admitted it with more
  write(name, thread, out);
  acknowledge(offer.from, name, thread, out);
  for (const auto& gone : {old, std::exchange(thread.previous, std::nullopt)})
    if (gone) environment_.images.release({name.first, *gone}, out);
}

void Keeper::drop_batches(const Name& name, Thread& thread, Actions& out) {
  while (!thread.batches.empty()) {
    const auto first = thread.batches.begin();
    if (first->first + first->second > thread.base && !thread.log.empty()) return;
    out.record(batch_key(name, first->first).encode(), std::nullopt);
    thread.batches.erase(first);
  }
}

void Keeper::clear(const Name& name, Thread& thread, Clear what, Actions& out) {
  end_fetch(name, thread, out);
  if (what == Clear::state && thread.root && !thread.previous) {
    GW_REACHED("keeper: the pages of an earlier epoch stay for the next image");
    thread.previous = std::exchange(thread.root, std::nullopt);
  }
  if (what == Clear::all || thread.root)
    for (std::optional<Hash256>* image : {&thread.root, &thread.previous})
      if (*image) environment_.images.release({name.first, *std::exchange(*image, std::nullopt)}, out);
  thread.log.clear();
  thread.base = 0;
  if (!thread.previous) thread.size = {};
  drop_batches(name, thread, out);
  GW_ASSERT(charge(name, thread).has_value());
}

// --- determinants

void Keeper::on_keep_determinants(Time now, const JobId& job, const Bearer& bearer, const JobMessage::KeepDeterminants& message,
                                  Actions& out) {
  const Name name{job, ThreadId{message.thread()}};
  Thread* thread = admit(now, name, bearer, out);
  if (thread == nullptr) return;
  std::string refused;
  wire::pb::DeterminantsRecord batch;
  for (const Determinant& determinant : message.determinants()) {
    if (determinant.index() != thread->next()) continue;
    if (thread->log.size() >= config_.determinants) {
      refused = fmt::format("{} determinants of the thread are kept since its last image, which is the limit", thread->log.size());
      break;
    }
    if (const Status charged = charge(name, *thread, 1); !charged) {
      refused = charged.error().detail;
      break;
    }
    thread->log.push_back(determinant);
    *batch.add_determinants() = determinant;
  }
  if (!batch.determinants().empty()) {
    ++thread->changes;
    const std::uint64_t first = batch.determinants(0).index();
    thread->batches[first] = static_cast<std::uint64_t>(batch.determinants_size());
    out.record(batch_key(name, first).encode(), batch.SerializeAsString());
  }
  if (!refused.empty()) return refuse(name, bearer, refused, out);
  acknowledge(bearer.host, name, *thread, out);
}

// --- restoring

// Fences: from here on the thread is in this epoch, and writes of hosts in older epochs are refused.
void Keeper::on_want_image(Time now, const JobId& job, const Bearer& bearer, const JobMessage::WantImage& message, Actions& out) {
  const Name name{job, ThreadId{message.thread()}};
  const Result<Thread*> found = find_or_add(name);
  // Nothing is kept of the thread, and there is no room to record the new epoch. The host is answered all the same: a host that writes in
  // an older epoch later is outranked by the next image or determinant of this one, and home takes no effects of it.
  if (!found) return send_image(bearer, name, {.epoch = bearer.epoch, .keeper_generation = bearer.keeper_generation}, out);
  Thread& thread = **found;
  const auto asks = std::pair(bearer.epoch, bearer.keeper_generation);
  const auto known = std::pair(thread.epoch, thread.keeper_generation);
  if (asks < known && !thread.spawned) return;
  thread.last_seen = now;
  if (asks != known || thread.spawned) {
    end_fetch(name, thread, out);
    take_over(thread, bearer);
    write(name, thread, out);
  } else if (thread.answered_at && now - *thread.answered_at < config_.answer_every) {
    return;
  }
  thread.answered_at = now;
  send_image(bearer, name, thread, out);
}

void Keeper::send_image(const Bearer& bearer, const Name& name, const Thread& thread, Actions& out) const {
  JobMessage answer;
  JobMessage::ImageIs& image = *answer.mutable_image_is();
  image.set_thread(name.second.value());
  image.set_epoch(thread.epoch);
  image.set_keeper_generation(thread.keeper_generation);
  image.set_in_image(thread.base);
  if (thread.root) image.set_image_root(wire::bytes_of(*thread.root));
  for (const Determinant& determinant : thread.log) *image.add_determinants() = determinant;
  out.after_disk(to_peer(bearer.host, name.first, std::move(answer)));
}

// --- forgetting

void Keeper::on_tick(Time now, Actions& out) {
  if (now < ask_at_) return;
  ask_at_ = now + config_.ask_every;
  std::map<std::pair<PeerId, JobId>, JobMessage> questions;
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    const auto next = std::next(thread);
    const auto& [name, state] = *thread;
    const PeerId& home = environment_.authorities.find(name.first)->leader();
    if (environment_.peers.alive(home)) thread->second.last_seen = now;
    if (now - state.last_seen > config_.orphan_after || (GW_BUG(28) && now != state.last_seen)) {
      GW_REACHED("keeper: an orphan was forgotten");
      forget(thread, out);
    } else {
      JobMessage::AskKept& ask = *questions[{home, name.first}].mutable_ask_kept();
      if (ask.threads_size() < wire::kMaxHeld) {
        JobMessage::KeptName& kept = *ask.add_threads();
        kept.set_thread(name.second.value());
        kept.set_epoch(state.epoch);
        kept.set_keeper_generation(state.keeper_generation);
        kept.set_changes(state.changes);
        if (state.spawned) kept.set_parent(state.spawned->parent.value());
      }
    }
    thread = next;
  }
  for (auto& [whom, question] : questions) out.send(whom.first, whom.second, std::move(question));
}

void Keeper::on_forget(const JobId& job, const JobMessage::Forget& message, Actions& out) {
  for (const JobMessage::KeptName& kept : message.threads()) {
    const auto found = threads_.find({job, ThreadId{kept.thread()}});
    if (found == threads_.end()) continue;
    if (found->second.epoch != kept.epoch() || found->second.keeper_generation != kept.keeper_generation()) continue;
    if (found->second.spawned.has_value() != (kept.parent() != 0)) continue;
    GW_REACHED("keeper: a thread was forgotten");
    forget(found, out);
  }
}

void Keeper::forget(std::map<Name, Thread>::iterator thread, Actions& out) {
  clear(thread->first, thread->second, Clear::all, out);
  GW_ASSERT(environment_.budget.change(account_of(thread->first), thread->second.charged, {}).has_value());
  out.record(kept_key(thread->first).encode(), std::nullopt);
  environment_.authorities.release(thread->first.first);
  threads_.erase(thread);
}

}  // namespace gw::job
