#include "job/keeper.h"

#include <algorithm>
#include <set>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/records.h"

namespace gw::job {
namespace {

RecordKey kept_key(const Keeper::Name& name) { return {.kind = RecordKind::kept, .job = name.first, .thread = name.second}; }
RecordKey batch_key(const Keeper::Name& name, std::uint64_t first) {
  return {.kind = RecordKind::determinants, .job = name.first, .thread = name.second, .number = first};
}

}  // namespace

Status Keeper::recover(Time now, const Name& name, const KeeperRecords& records, const std::optional<std::string>& parts, Actions& out) {
  if (environment_.authorities.find(name.first) == nullptr) {
    auto charter = Charter::check(as_bytes(records.kept.charter()));
    if (!charter || charter->id() != name.first) return drop_records(name, records, out);
    environment_.authorities.add(*std::move(charter));
  }
  const bool has_image = !records.kept.parts().empty();
  auto pages = parts ? page_blobs(*parts) : Result<std::vector<Hash256>>(fail(Kind::corrupt, "it is not on the disk"));
  if (has_image && !pages) {
    GW_REACHED("keeper: an image was lost");
    return drop_records(name, records, out);
  }
  environment_.authorities.hold(name.first);
  Thread& thread = threads_[name];
  if (records.kept.host().size() == sizeof(Hash256)) thread.host = PeerId::from(records.kept.host());
  thread.vouched = records.kept.vouched();
  thread.epoch = records.kept.epoch();
  thread.keeper_generation = records.kept.keeper_generation();
  thread.base = records.kept.determinants();
  thread.last_seen = now;
  if (has_image) {
    thread.parts = wire::hash_of(records.kept.parts());
    const std::set<Hash256> distinct(pages->begin(), pages->end());
    thread.held.assign(distinct.begin(), distinct.end());
    thread.held.push_back(*thread.parts);
    for (const Hash256& blob : thread.held) environment_.blobs.adopt(blob);
  }
  for (const auto& [first, batch] : records.determinants) {
    thread.batches[first] = static_cast<std::uint64_t>(batch.determinants_size());
    for (const Determinant& determinant : batch.determinants())
      if (determinant.index() == thread.next()) thread.log.push_back(determinant);
  }
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
  if (found == threads_.end()) return std::nullopt;
  const Thread& thread = found->second;
  return Bearer{thread.host, thread.epoch, thread.keeper_generation, thread.vouched};
}

// nullptr: there is no room for one more.
Keeper::Thread* Keeper::find_or_add(const Name& name) {
  if (const auto found = threads_.find(name); found != threads_.end()) return &found->second;
  if (threads_.size() >= config_.threads) return nullptr;
  environment_.authorities.hold(name.first);
  return &threads_[name];
}

// Whether the bearer is newer than who wrote before. A grant of the thread's own counts for more than any that only vouches.
bool Keeper::outranks(const Bearer& bearer, const Thread& thread) const {
  if (thread.vouched && !bearer.vouched) return true;
  return std::pair(bearer.epoch, bearer.keeper_generation) > std::pair(thread.epoch, thread.keeper_generation);
}

// The thread, if the bearer may write to it. One that is newer than all before begins with nothing.
Keeper::Thread* Keeper::admit(Time now, const Name& name, const Bearer& bearer, Actions& out) {
  Thread* thread = find_or_add(name);
  if (thread == nullptr) return nullptr;
  const bool fenced = bearer.vouched && thread->epoch > 0 && !thread->vouched;
  const bool newer = outranks(bearer, *thread);
  const bool same = thread->host == bearer.host &&
                    std::pair(bearer.epoch, bearer.keeper_generation) == std::pair(thread->epoch, thread->keeper_generation);
  if (fenced || (!newer && !same)) {
    GW_REACHED("keeper: a zombie was refused");
    return nullptr;
  }
  thread->last_seen = now;
  if (newer) {
    clear(name, *thread, out);
    take_over(*thread, bearer);
    write(name, *thread, out);
  }
  return thread;
}

void Keeper::take_over(Thread& thread, const Bearer& bearer) {
  thread.host = bearer.host;
  thread.epoch = bearer.epoch;
  thread.keeper_generation = bearer.keeper_generation;
  thread.vouched = bearer.vouched;
}

void Keeper::write(const Name& name, const Thread& thread, Actions& out) const {
  wire::pb::KeptRecord record;
  record.set_charter(environment_.authorities.find(name.first)->charter().bytes());
  record.set_host(thread.host.bytes());
  record.set_vouched(thread.vouched);
  record.set_epoch(thread.epoch);
  record.set_keeper_generation(thread.keeper_generation);
  record.set_determinants(thread.base);
  if (thread.parts) record.set_parts(wire::bytes_of(*thread.parts));
  out.record(kept_key(name).encode(), record.SerializeAsString());
}

void Keeper::acknowledge(const PeerId& to, const Name& name, const Thread& thread, Actions& out) const {
  JobMessage message;
  JobMessage::Kept& kept = *message.mutable_kept();
  kept.set_thread(name.second.value());
  kept.set_epoch(thread.epoch);
  kept.set_keeper_generation(thread.keeper_generation);
  kept.set_determinants(thread.next());
  if (thread.parts) kept.set_parts(wire::bytes_of(*thread.parts));
  if (GW_BUG(10)) return out.send(to, name.first, std::move(message));
  out.after_disk(to_peer(to, name.first, std::move(message)));
}

// --- images

void Keeper::on_keep_image(Time now, const JobId& job, const Bearer& bearer, const JobMessage::KeepImage& message, Actions& out) {
  const PeerId& from = bearer.host;
  const Name name{job, ThreadId{message.thread()}};
  Thread* thread = admit(now, name, bearer, out);
  if (thread == nullptr) return;
  const Hash256 parts = wire::hash_of(message.parts());
  if (thread->parts == parts) return acknowledge(from, name, *thread, out);
  if (thread->fetch && thread->fetch->parts == parts && thread->fetch->from == from) return;
  end_fetch(*thread, out);
  if (message.determinants() < thread->base) return;  // an old offer that came late
  if (!environment_.blobs.want(now, parts, job, from, out)) return;
  thread->fetch = Fetch{.parts = parts, .determinants = message.determinants(), .from = from, .held = {parts}};
  advance(now, name, *thread, out);
}

void Keeper::end_fetch(Thread& thread, Actions& out) {
  if (!thread.fetch) return;
  for (const Hash256& hash : thread.fetch->held) environment_.blobs.release(hash, out);
  thread.fetch.reset();
}

void Keeper::on_blob_here(Time now, Actions& out) {
  for (auto& [name, thread] : threads_) advance(now, name, thread, out);
}

void Keeper::advance(Time, const Name& name, Thread& thread, Actions& out) {
  if (!thread.fetch) return;
  const auto here = [&](const Hash256& blob) { return environment_.blobs.has(blob); };
  if (!std::ranges::all_of(thread.fetch->held, here)) return;
  if (!thread.fetch->listed) return environment_.blobs.load(thread.fetch->parts, out);
  commit(name, thread, out);
}

void Keeper::on_loaded(Time now, const Hash256& hash, const std::optional<std::string>& bytes, Actions& out) {
  for (auto& [name, thread] : threads_) {
    if (!thread.fetch || thread.fetch->listed || thread.fetch->parts != hash) continue;
    const auto pages = bytes ? page_blobs(*bytes) : Result<std::vector<Hash256>>(fail(Kind::not_found, "the blob is gone"));
    if (!pages) {
      end_fetch(thread, out);
      continue;
    }
    if (!want_pages(now, name.first, *thread.fetch, *pages, out)) {
      end_fetch(thread, out);
      continue;
    }
    advance(now, name, thread, out);
  }
}

// False: there is no room for them.
bool Keeper::want_pages(Time now, const JobId& job, Fetch& fetch, const std::vector<Hash256>& pages, Actions& out) {
  for (const Hash256& page : std::set<Hash256>(pages.begin(), pages.end())) {
    if (!environment_.blobs.want(now, page, job, fetch.from, out)) return false;
    fetch.held.push_back(page);
  }
  fetch.listed = true;
  return true;
}

// Everything is on disk: from here on this is the image.
void Keeper::commit(const Name& name, Thread& thread, Actions& out) {
  GW_REACHED("keeper: an image is kept");
  const std::vector<Hash256> old = std::move(thread.held);
  const Fetch fetch = std::move(*thread.fetch);
  thread.fetch.reset();
  thread.parts = fetch.parts;
  thread.held = fetch.held;
  while (!thread.log.empty() && thread.log.front().index() < fetch.determinants) thread.log.pop_front();
  thread.base = fetch.determinants;
  if (GW_BUG(9) || (!thread.log.empty() && thread.log.front().index() != thread.base)) thread.log.clear();
  drop_batches(name, thread, out);
  write(name, thread, out);
  acknowledge(fetch.from, name, thread, out);
  for (const Hash256& hash : old) environment_.blobs.release(hash, out);
}

void Keeper::drop_batches(const Name& name, Thread& thread, Actions& out) {
  while (!thread.batches.empty()) {
    const auto first = thread.batches.begin();
    if (first->first + first->second > thread.base && !thread.log.empty()) return;
    out.record(batch_key(name, first->first).encode(), std::nullopt);
    thread.batches.erase(first);
  }
}

void Keeper::clear(const Name& name, Thread& thread, Actions& out) {
  end_fetch(thread, out);
  for (const Hash256& hash : thread.held) environment_.blobs.release(hash, out);
  thread.held.clear();
  thread.parts.reset();
  thread.log.clear();
  thread.base = 0;
  drop_batches(name, thread, out);
}

// --- determinants

void Keeper::on_keep_determinants(Time now, const JobId& job, const Bearer& bearer, const JobMessage::KeepDeterminants& message,
                                  Actions& out) {
  const Name name{job, ThreadId{message.thread()}};
  Thread* thread = admit(now, name, bearer, out);
  if (thread == nullptr) return;
  wire::pb::DeterminantsRecord batch;
  for (const Determinant& determinant : message.determinants()) {
    if (determinant.index() != thread->next() || thread->log.size() >= config_.determinants) continue;
    thread->log.push_back(determinant);
    *batch.add_determinants() = determinant;
  }
  if (!batch.determinants().empty()) {
    const std::uint64_t first = batch.determinants(0).index();
    thread->batches[first] = static_cast<std::uint64_t>(batch.determinants_size());
    out.record(batch_key(name, first).encode(), batch.SerializeAsString());
  }
  acknowledge(bearer.host, name, *thread, out);
}

// --- restoring

// From here on the thread lives in this epoch: whoever wrote before is a zombie.
void Keeper::on_want_image(Time now, const JobId& job, const Bearer& bearer, const JobMessage::WantImage& message, Actions& out) {
  const Name name{job, ThreadId{message.thread()}};
  Thread* found = find_or_add(name);
  if (found == nullptr) return;
  Thread& thread = *found;
  const auto asks = std::pair(bearer.epoch, bearer.keeper_generation);
  const auto known = std::pair(thread.epoch, thread.keeper_generation);
  if (asks < known && !thread.vouched) return;
  thread.last_seen = now;
  if (asks != known || thread.vouched) {
    end_fetch(thread, out);
    take_over(thread, bearer);
    write(name, thread, out);
  }
  JobMessage answer;
  JobMessage::ImageIs& image = *answer.mutable_image_is();
  image.set_thread(message.thread());
  image.set_epoch(thread.epoch);
  image.set_keeper_generation(thread.keeper_generation);
  image.set_in_image(thread.base);
  if (thread.parts) image.set_parts(wire::bytes_of(*thread.parts));
  for (const Determinant& determinant : thread.log) *image.add_determinants() = determinant;
  out.after_disk(to_peer(bearer.host, job, std::move(answer)));
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
    if (environment_.live_peers.alive(home)) thread->second.last_seen = now;
    if (now - state.last_seen > config_.orphan_after) {
      GW_REACHED("keeper: an orphan was forgotten");
      forget(thread, out);
    } else {
      JobMessage::AskKept& ask = *questions[{home, name.first}].mutable_ask_kept();
      if (ask.threads_size() < wire::kMaxHeld) {
        JobMessage::KeptName& kept = *ask.add_threads();
        kept.set_thread(name.second.value());
        kept.set_epoch(state.epoch);
        kept.set_keeper_generation(state.keeper_generation);
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
    GW_REACHED("keeper: a thread was forgotten");
    forget(found, out);
  }
}

void Keeper::forget(std::map<Name, Thread>::iterator thread, Actions& out) {
  clear(thread->first, thread->second, out);
  out.record(kept_key(thread->first).encode(), std::nullopt);
  environment_.authorities.release(thread->first.first);
  threads_.erase(thread);
}

}  // namespace gw::job
