// A hosted job and the keepers of its threads.

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/hosted_job.h"

namespace gw::job {
namespace {

constexpr int kDeterminantsPerMessage = 8192;

}  // namespace

// Mostly in an image of the same thread; a child's first one has its parent's.
std::optional<Hash256> HostedJob::find_page(ThreadId first, const Hash256& page) const {
  const auto in = [&](const Thread& thread) -> std::optional<Hash256> {
    for (const std::optional<ImageRef>* image : {&thread.queued, &thread.replicating, &thread.stable, &thread.initial}) {
      if (!*image) continue;
      if (const auto found = (*image)->pages.find(page); found != (*image)->pages.end()) return found->second;
    }
    return std::nullopt;
  };
  if (const auto own = threads_.find(first); own != threads_.end())
    if (const auto found = in(own->second)) return found;
  for (const auto& [id, thread] : threads_)
    if (const auto found = in(thread)) return found;
  return std::nullopt;
}

void HostedJob::replace(std::optional<ImageRef>& slot, ImageRef image, Actions& out) {
  release(slot, out);
  slot = std::move(image);
}

void HostedJob::release(std::optional<ImageRef>& image, Actions& out) {
  if (!image) return;
  for (const Hash256& hash : image->held) environment_.blobs.release(hash, out);
  image.reset();
}

// --- restoring

void HostedJob::ask_image(Time now, ThreadId id, Thread& thread, Actions& out) {
  thread.resend_at = now + config_.retry;
  JobMessage message;
  JobMessage::WantImage& want = *message.mutable_want_image();
  want.set_thread(id.value());
  want.set_epoch(thread.epoch);
  want.set_keeper_generation(thread.keeper.keeper_generation);
  *want.mutable_grant() = thread.keeper.grant;
  out.send(thread.keeper.peer, claim_.job, std::move(message));
}

void HostedJob::on_image_is(Time now, const PeerId& from, const JobMessage::ImageIs& image, Actions& out) {
  const ThreadId id{image.thread()};
  Thread* thread = find(image.thread(), image.epoch());
  if (thread == nullptr || thread->stage != Stage::asking || thread->keeper.peer != from ||
      thread->keeper.keeper_generation != image.keeper_generation())
    return;
  thread->log.assign(image.determinants().begin(), image.determinants().end());
  if (GW_BUG(7)) thread->log.clear();
  if (image.parts().empty() && thread->forked) {
    report_failed(id, image.epoch(), "its keeper has no image of it", out);
    return remove(threads_.find(id), out);
  }
  if (image.parts().empty()) {
    thread->stage = Stage::queued;
  } else {
    thread->stable = ImageRef{.parts = wire::hash_of(image.parts()), .determinants = image.in_image()};
    if (!environment_.blobs.want(now, thread->stable->parts, claim_.job, from, out)) return remove(threads_.find(id), out);
    thread->stable->held.push_back(thread->stable->parts);
    thread->stage = Stage::parts;
  }
  on_blob_here(now, out);
}

void HostedJob::advance_image(Time now, ThreadId, Thread& thread, Actions& out) {
  if (thread.stage == Stage::parts && environment_.blobs.has(thread.stable->parts)) environment_.blobs.load(thread.stable->parts, out);
  if (thread.stage != Stage::pages) return;
  const auto here = [&](const Hash256& blob) { return environment_.blobs.has(blob); };
  if (!std::ranges::all_of(thread.stable->held, here)) return;
  thread.stage = Stage::queued;
  start_queued(now, out);
}

// The parts are here: the pages they name come next.
void HostedJob::hold_image(Time now, Thread& thread, const std::string& parts, Actions& out) {
  auto pages = pages_by_hash(parts);
  if (!pages) return;  // checked by the keeper when it took it; damaged since, and the thread stays where it is until home gives up
  std::set<Hash256> wanted;
  for (const auto& [page, blob] : *pages) {
    if (!wanted.insert(blob).second) continue;
    if (!environment_.blobs.want(now, blob, claim_.job, thread.keeper.peer, out)) return;  // no room: as above
    thread.stable->held.push_back(blob);
  }
  thread.stage = Stage::pages;
  thread.stable->pages = std::move(*pages);
}

// --- keeping

// The keeper must get the image first and then what came after it; a new one at once, and all of it again until it says that it has it.
void HostedJob::sync_link(Time now, ThreadId id, const Thread& thread, Link& link, const ImageRef* image, Actions& out) {
  const bool resend = now >= link.resend_at;
  const bool image_lacks = image != nullptr && link.image != image->parts;
  if (resend) link.sent = link.determinants;
  bool sent = false;
  if (image_lacks && (resend || link.offered != image->parts)) {
    link.offered = image->parts;
    JobMessage message;
    JobMessage::KeepImage& keep = *message.mutable_keep_image();
    keep.set_thread(id.value());
    keep.set_epoch(thread.epoch);
    keep.set_keeper_generation(link.keeper_generation);
    keep.set_parts(wire::bytes_of(image->parts));
    keep.set_determinants(image->determinants);
    if (!link.answered || resend) *keep.mutable_grant() = link.grant;
    out.send(link.peer, claim_.job, std::move(message));
    sent = true;
  }
  JobMessage message;
  JobMessage::KeepDeterminants& keep = *message.mutable_keep_determinants();
  for (const Determinant& determinant : thread.log) {
    if (determinant.index() < link.sent) continue;
    if (keep.determinants_size() >= kDeterminantsPerMessage) break;
    *keep.add_determinants() = determinant;
    link.sent = determinant.index() + 1;
  }
  if (!keep.determinants().empty()) {
    keep.set_thread(id.value());
    keep.set_epoch(thread.epoch);
    keep.set_keeper_generation(link.keeper_generation);
    if (!link.answered || resend) *keep.mutable_grant() = link.grant;
    out.send(link.peer, claim_.job, std::move(message));
    sent = true;
  }
  if (!sent) return;
  link.resend_at = now + config_.retry;
  link.waits_since = std::min(link.waits_since, now);
}

void HostedJob::sync(Time now, ThreadId id, Thread& thread, Actions& out) {
  if (thread.child && !thread.stable) follow_keeper(now, thread);
  if (thread.keeper.keeper_generation == 0) return;  // born when no thread that home knows ran here
  const ImageRef* stable = thread.stable ? &*thread.stable : nullptr;
  const bool offered = thread.replicating && thread.replicating->after_effect <= thread.stored;
  sync_link(now, id, thread, thread.keeper, offered ? &*thread.replicating : stable, out);
  if (!thread.next) return;
  sync_link(now, id, thread, *thread.next, stable, out);
  if (thread.said_filled && now >= thread.next->resend_at) {
    thread.next->resend_at = now + config_.retry;
    send_filled(id, thread, out);
  }
}

// A child that home has not heard of has the keeper of some thread home knows: if that one's is replaced, the child's is.
void HostedJob::follow_keeper(Time now, Thread& child) {
  for (const auto& [id, thread] : threads_) {
    const bool known_at_home = !thread.child || thread.stable;
    if (thread.stage != Stage::running || !known_at_home) continue;
    // Back at a keeper it had before, it must not look like somebody older.
    if (child.keeper.peer != thread.keeper.peer || child.keeper.keeper_generation == 0)
      child.keeper = {.peer = thread.keeper.peer,
                      .keeper_generation = std::max(child.keeper.keeper_generation, thread.keeper.keeper_generation),
                      .grant = thread.keeper.grant,
                      .resend_at = now};
    return;
  }
}

void HostedJob::on_kept(Time now, const PeerId& from, const JobMessage::Kept& kept, Actions& out) {
  Thread* thread = find(kept.thread(), kept.epoch());
  if (thread == nullptr || thread->stage != Stage::running) return;
  Link* link = nullptr;
  if (thread->keeper.peer == from && thread->keeper.keeper_generation == kept.keeper_generation()) link = &thread->keeper;
  if (thread->next && thread->next->peer == from && thread->next->keeper_generation == kept.keeper_generation()) link = &*thread->next;
  if (link == nullptr) return;
  link->answered = true;
  link->waits_since = kNever;
  if (kept.determinants() > thread->recorded()) return;  // it cannot have more than there are
  // Late answers say less than is true; what is kept only grows.
  if (kept.determinants() < link->determinants) return;
  link->determinants = kept.determinants();
  link->image = kept.parts().empty() ? std::nullopt : std::optional(wire::hash_of(kept.parts()));
  apply_keeper_progress(now, ThreadId{kept.thread()}, *thread, out);
}

// What follows from what the keepers have.
void HostedJob::apply_keeper_progress(Time now, ThreadId id, Thread& thread, Actions& out) {
  if (!thread.said_filled) {
    // A child whose keeper was replaced may have gone on with what the one before had, and this one has not yet.
    const bool has_all = thread.keeper.determinants >= thread.stable_determinants;
    if (has_all && thread.replicating && thread.keeper.image == thread.replicating->parts) promote(now, id, thread, out);
    if (thread.keeper.determinants > thread.stable_determinants) {
      thread.stable_determinants = thread.keeper.determinants;
      wire::pb::ToWorker frame;
      frame.mutable_determinants_stable()->set_thread(id.value());
      frame.mutable_determinants_stable()->set_count(thread.stable_determinants);
      tell(std::move(frame), {}, out);
    }
  }
  if (!thread.next || thread.said_filled) return;
  const bool has_image = !thread.stable || thread.next->image == thread.stable->parts;
  if ((!has_image || thread.next->determinants < thread.stable_determinants) && !GW_BUG(8)) return;
  GW_REACHED("host: a new keeper has everything");
  thread.said_filled = true;
  thread.next->resend_at = now + config_.retry;
  send_filled(id, thread, out);
}

void HostedJob::promote(Time now, ThreadId id, Thread& thread, Actions& out) {
  std::optional<ImageRef> old = std::exchange(thread.stable, std::exchange(thread.replicating, std::exchange(thread.queued, std::nullopt)));
  while (!thread.log.empty() && thread.log.front().index() < thread.stable->determinants) thread.log.pop_front();
  if (thread.child && !old) {
    for (auto& [parent, waiting] : threads_) waiting.resend_at = Time(0);  // its fork may go now
    tick_at_ = Time(0);
  }
  wire::pb::ToWorker frame;
  frame.mutable_image_stable()->set_thread(id.value());
  frame.mutable_image_stable()->set_image(thread.stable->id);
  tell(std::move(frame), {}, out);
  release(old, out);
  release(thread.initial, out);
  if (thread.replicating) {
    sync(now, id, thread, out);  // its turn
  } else {
    wake_by(thread.checkpoint_at);
  }
}

void HostedJob::send_filled(ThreadId id, const Thread& thread, Actions& out) {
  JobMessage message;
  message.mutable_keeper_filled()->set_thread(id.value());
  message.mutable_keeper_filled()->set_epoch(thread.epoch);
  message.mutable_keeper_filled()->set_keeper_generation(thread.next->keeper_generation);
  out.send(claim_.home, claim_.job, std::move(message));
}

void HostedJob::on_keeper_change(Time now, const JobMessage::KeeperChange& change, Actions& out) {
  Thread* thread = find(change.thread(), change.epoch());
  if (thread == nullptr || thread->stage != Stage::running) return;
  const ThreadId id{change.thread()};
  const PeerId current = PeerId::from(change.current());
  // Home has recorded the one that was filled.
  if (thread->next && thread->next->peer == current && change.keeper_generation() >= thread->next->keeper_generation) {
    thread->keeper = *thread->next;
    thread->next.reset();
    thread->said_filled = false;
    apply_keeper_progress(now, id, *thread, out);
  }
  const std::uint64_t known = thread->next ? thread->next->keeper_generation : thread->keeper.keeper_generation;
  if (change.target().empty() || change.keeper_generation() <= known) return sync(now, id, *thread, out);
  thread->next = Link{
      .peer = PeerId::from(change.target()), .keeper_generation = change.keeper_generation(), .grant = change.grant(), .resend_at = now};
  thread->said_filled = false;
  sync(now, id, *thread, out);
  apply_keeper_progress(now, id, *thread, out);
}

void HostedJob::plan_checkpoint(Time now, Thread& thread) {
  const Time every(static_cast<std::int64_t>(manifest_->content().policy().checkpoint_every_ns()));
  thread.checkpoint_at = every > Time(0) ? now + every : kNever;
  wake_by(thread.checkpoint_at);
}

void HostedJob::maybe_checkpoint(Time now, ThreadId id, Thread& thread, Actions& out) {
  const bool due =
      now >= thread.checkpoint_at || thread.log.size() > config_.checkpoint_determinants || thread.input_bytes > config_.checkpoint_input;
  if (!due || thread.checkpointing || thread.replicating || thread.next || thread.checkpoint_at == kNever) return;
  thread.checkpointing = true;
  thread.input_bytes = 0;
  plan_checkpoint(now, thread);
  wire::pb::ToWorker frame;
  frame.mutable_checkpoint()->set_thread(id.value());
  tell(std::move(frame), {}, out);
}

}  // namespace gw::job
