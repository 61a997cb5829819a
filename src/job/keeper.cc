#include "job/keeper.h"

#include <algorithm>
#include <set>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/records.h"

namespace gw::job {
namespace {

Keeper::Name name_of(const std::string& job, std::uint64_t thread) { return {JobId::from(job), ThreadId{thread}}; }

RecordKey kept_key(const Keeper::Name& name) { return {.kind = RecordKind::kept, .job = name.first, .thread = name.second}; }
RecordKey batch_key(const Keeper::Name& name, std::uint64_t first) {
  return {.kind = RecordKind::determinants, .job = name.first, .thread = name.second, .number = first};
}

}  // namespace

Status Keeper::recover(Time now, const Name& name, const KeeperRecords& records, const std::optional<std::string>& parts) {
  Thread& thread = threads_[name];
  thread.home = PeerId::from(records.kept.home());
  thread.epoch = records.kept.epoch();
  thread.keeper_generation = records.kept.keeper_generation();
  thread.base = records.kept.determinants();
  thread.last_seen = now;
  if (!records.kept.parts().empty()) {
    if (!parts) return fail(Kind::corrupt, "an image of thread {} that was kept is gone", name.second.value());
    GW_TRY(const std::vector<Hash256> pages, page_blobs(*parts));
    thread.parts = wire::hash_of(records.kept.parts());
    const std::set<Hash256> distinct(pages.begin(), pages.end());
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

// The thread, if whoever calls itself (epoch, keeper_generation) may write to it. One that is newer than all before begins with nothing.
Keeper::Thread* Keeper::admit(Time now, const Name& name, const PeerId& home, std::uint64_t epoch, std::uint64_t keeper_generation,
                              Actions& out) {
  if (!threads_.contains(name) && threads_.size() >= config_.threads) return nullptr;
  Thread& thread = threads_[name];
  const auto known = std::pair(thread.epoch, thread.keeper_generation);
  if (std::pair(epoch, keeper_generation) < known) {
    GW_REACHED("keeper: a zombie was refused");
    return nullptr;
  }
  thread.last_seen = now;
  if (std::pair(epoch, keeper_generation) > known) {
    clear(name, thread, out);
    thread.home = home;
    thread.epoch = epoch;
    thread.keeper_generation = keeper_generation;
    write(name, thread, out);
  }
  return &thread;
}

void Keeper::write(const Name& name, const Thread& thread, Actions& out) const {
  wire::pb::KeptRecord record;
  record.set_home(thread.home.bytes());
  record.set_epoch(thread.epoch);
  record.set_keeper_generation(thread.keeper_generation);
  record.set_determinants(thread.base);
  if (thread.parts) record.set_parts(wire::bytes_of(*thread.parts));
  out.record(kept_key(name).encode(), record.SerializeAsString());
}

void Keeper::acknowledge(const PeerId& to, const Name& name, const Thread& thread, Actions& out) const {
  Message message;
  Message::Kept& kept = *message.mutable_kept();
  kept.set_job(name.first.bytes());
  kept.set_thread(name.second.value());
  kept.set_epoch(thread.epoch);
  kept.set_keeper_generation(thread.keeper_generation);
  kept.set_determinants(thread.next());
  if (thread.parts) kept.set_parts(wire::bytes_of(*thread.parts));
  if (GW_BUG(10)) return out.send(to, std::move(message));
  out.after_disk(Send{to, std::move(message)});
}

// --- images

void Keeper::on_keep_image(Time now, const PeerId& from, const Message::KeepImage& message, Actions& out) {
  const Name name = name_of(message.job(), message.thread());
  Thread* thread = admit(now, name, PeerId::from(message.home()), message.epoch(), message.keeper_generation(), out);
  if (thread == nullptr) return;
  const Hash256 parts = wire::hash_of(message.parts());
  if (thread->parts == parts) return acknowledge(from, name, *thread, out);
  if (thread->fetch && thread->fetch->parts == parts && thread->fetch->from == from) return;
  end_fetch(*thread, out);
  if (message.determinants() < thread->base) return;  // an old offer that came late
  if (!environment_.blobs.want(now, parts, from, out)) return;
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
    if (!want_pages(now, *thread.fetch, *pages, out)) {
      end_fetch(thread, out);
      continue;
    }
    advance(now, name, thread, out);
  }
}

// False: there is no room for them.
bool Keeper::want_pages(Time now, Fetch& fetch, const std::vector<Hash256>& pages, Actions& out) {
  for (const Hash256& page : std::set<Hash256>(pages.begin(), pages.end())) {
    if (!environment_.blobs.want(now, page, fetch.from, out)) return false;
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

void Keeper::on_keep_determinants(Time now, const PeerId& from, const Message::KeepDeterminants& message, Actions& out) {
  const Name name = name_of(message.job(), message.thread());
  Thread* thread = admit(now, name, PeerId::from(message.home()), message.epoch(), message.keeper_generation(), out);
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
  acknowledge(from, name, *thread, out);
}

// --- restoring

// From here on the thread lives in this epoch: whoever wrote before is a zombie.
void Keeper::on_want_image(Time now, const PeerId& from, const Message::WantImage& message, Actions& out) {
  const Name name = name_of(message.job(), message.thread());
  if (!threads_.contains(name) && threads_.size() >= config_.threads) return;
  Thread& thread = threads_[name];
  const auto asks = std::pair(message.epoch(), message.keeper_generation());
  const auto known = std::pair(thread.epoch, thread.keeper_generation);
  if (asks < known) return;
  thread.last_seen = now;
  if (asks > known) {
    end_fetch(thread, out);
    thread.home = PeerId::from(message.home());
    thread.epoch = message.epoch();
    thread.keeper_generation = message.keeper_generation();
    write(name, thread, out);
  }
  Message answer;
  Message::ImageIs& image = *answer.mutable_image_is();
  image.set_job(message.job());
  image.set_thread(message.thread());
  image.set_epoch(thread.epoch);
  image.set_keeper_generation(thread.keeper_generation);
  image.set_in_image(thread.base);
  if (thread.parts) image.set_parts(wire::bytes_of(*thread.parts));
  for (const Determinant& determinant : thread.log) *image.add_determinants() = determinant;
  out.after_disk(Send{from, std::move(answer)});
}

// --- forgetting

void Keeper::on_tick(Time now, Actions& out) {
  if (now < ask_at_) return;
  ask_at_ = now + config_.ask_every;
  std::map<std::pair<PeerId, JobId>, Message> questions;
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    const auto next = std::next(thread);
    const auto& [name, state] = *thread;
    if (environment_.live_peers.alive(state.home)) thread->second.last_seen = now;
    if (now - state.last_seen > config_.orphan_after) {
      GW_REACHED("keeper: an orphan was forgotten");
      forget(thread, out);
    } else {
      Message::AskKept& ask = *questions[{state.home, name.first}].mutable_ask_kept();
      ask.set_job(name.first.bytes());
      if (ask.threads_size() < wire::kMaxHeld) {
        Message::KeptName& kept = *ask.add_threads();
        kept.set_thread(name.second.value());
        kept.set_epoch(state.epoch);
        kept.set_keeper_generation(state.keeper_generation);
      }
    }
    thread = next;
  }
  for (auto& [whom, question] : questions) out.send(whom.first, std::move(question));
}

void Keeper::on_forget(const PeerId& from, const Message::Forget& message, Actions& out) {
  for (const Message::KeptName& kept : message.threads()) {
    const auto found = threads_.find(name_of(message.job(), kept.thread()));
    if (found == threads_.end() || found->second.home != from) continue;
    if (found->second.epoch != kept.epoch() || found->second.keeper_generation != kept.keeper_generation()) continue;
    GW_REACHED("keeper: a thread was forgotten");
    forget(found, out);
  }
}

void Keeper::forget(std::map<Name, Thread>::iterator thread, Actions& out) {
  clear(thread->first, thread->second, out);
  out.record(kept_key(thread->first).encode(), std::nullopt);
  threads_.erase(thread);
}

}  // namespace gw::job
