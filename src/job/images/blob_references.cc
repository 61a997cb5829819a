#include "job/images/blob_references.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {

bool BlobReferences::has(const Hash256& hash) const {
  const auto found = blobs_.find(hash);
  return found != blobs_.end() && found->second.state == State::stored;
}

void BlobReferences::add_need(Entry& entry, const JobId& job) { ++entry.needs[job]; }

BlobReferences::Entry& BlobReferences::make(const Hash256& hash, State state) {
  const std::optional<std::uint32_t> cached = cache_.take(hash);
  Entry entry{.state = cached ? State::stored : state, .bytes = cached.value_or(0), .cached = cached.has_value()};
  return blobs_.emplace(hash, std::move(entry)).first->second;
}

void BlobReferences::adopt(const Hash256& hash, const JobId& job) {
  const auto found = blobs_.find(hash);
  add_need(found == blobs_.end() ? make(hash, State::stored) : found->second, job);
}

bool BlobReferences::is_asked(const Hash256& hash) const {
  const auto found = blobs_.find(hash);
  return found != blobs_.end() && found->second.state == State::asked;
}

bool BlobReferences::is_searched(const Hash256& hash) const {
  const auto found = blobs_.find(hash);
  return found != blobs_.end() && found->second.state == State::asked && std::ranges::any_of(found->second.sources, &Source::member);
}

bool BlobReferences::is_needed(const Hash256& hash, const JobId& job) const {
  const auto found = blobs_.find(hash);
  if (found == blobs_.end()) return false;
  return found->second.needs.contains(job);
}

std::vector<JobId> BlobReferences::jobs_of(const Hash256& hash) const {
  std::vector<JobId> jobs;
  if (const auto found = blobs_.find(hash); found != blobs_.end())
    for (const auto& [job, count] : found->second.needs) jobs.push_back(job);
  return jobs;
}

void BlobReferences::put(const Hash256& hash, SharedBytes bytes, const JobId& job, Actions& out) {
  const auto found = blobs_.find(hash);
  Entry& entry = found == blobs_.end() ? make(hash, State::asked) : found->second;
  add_need(entry, job);
  if (entry.state != State::asked) return;
  entry.state = State::storing;
  leave_turn(hash, entry);
  store(hash, std::move(bytes), out);
}

Status BlobReferences::want(Time now, const Hash256& hash, const JobId& job, const PeerId& from, Actions& out) {
  const auto found = blobs_.find(hash);
  if (found != blobs_.end()) {
    add_need(found->second, job);
    if (found->second.state != State::asked) return ok();
    add_source(found->second, {from, job});
    if (found->second.turn == Turn::queued) enqueue(hash, found->second);
    ask_queued(now, out);
    return ok();
  }
  if (blobs_.size() >= config_.blobs) return fail(Kind::overloaded, "this peer holds {} blobs, which is its limit", blobs_.size());
  Entry& entry = make(hash, State::asked);
  add_need(entry, job);
  if (entry.state == State::stored) return ok();
  entry.sources = {{{from, job}}};
  enqueue(hash, entry);
  if (GW_BUG(37) && windows_.at(from).in_flight >= config_.in_flight) leave_turn(hash, entry);
  ask_queued(now, out);
  return ok();
}

Status BlobReferences::expect(const Hash256& hash, const JobId& job) {
  const auto found = blobs_.find(hash);
  if (found == blobs_.end() && blobs_.size() >= config_.blobs)
    return fail(Kind::overloaded, "this peer holds {} blobs, which is its limit", blobs_.size());
  Entry& entry = found == blobs_.end() ? make(hash, State::asked) : found->second;
  add_need(entry, job);
  entry.cached = true;
  return ok();
}

void BlobReferences::ask(const Hash256& hash, const JobId& job, const PeerId& peer, bool from_any, Actions& out) {
  Entry& entry = blobs_.at(hash);
  add_source(entry, {peer, job});
  JobMessage message;
  message.mutable_want_blob()->set_hash(wire::bytes_of(hash));
  message.mutable_want_blob()->set_from_any(from_any);
  out.send(peer, job, std::move(message));
}

void BlobReferences::ask_members(Time now, const Hash256& hash) {
  const auto found = blobs_.find(hash);
  if (found == blobs_.end() || found->second.state != State::asked || found->second.turn != Turn::nowhere) return;
  update_holders(hash, found->second);
  if (found->second.sources.empty()) return give_up_for_now(now, hash, found->second);
  for (Source& source : found->second.sources) source.lacks = false;
  rest(hash, found->second, now);
}

// The source named last is asked next, since earlier ones may be dead. Earlier sources stay in the list: the new one may lack the blob.
void BlobReferences::add_source(Entry& entry, const Partner& from) const {
  const auto known = std::ranges::find(entry.sources, from, &Source::partner);
  if (known != entry.sources.end()) {
    known->lacks = false;
    return;
  }
  entry.sources.insert(entry.sources.begin() + (entry.was_asked ? 1 : 0), Source{from});
  if (entry.sources.size() > std::max(config_.sources, config_.holders)) entry.sources.pop_back();
}

// Makes all members of the jobs that need the blob its sources. A peer that was a member and has left is asked no more: it does not know
// the job any longer, and may never answer.
void BlobReferences::update_holders(const Hash256& hash, Entry& entry) {
  std::vector<Partner> members;
  for (const auto& [job, count] : entry.needs)
    for (const PeerId& peer : holders_(job)) members.push_back({peer, job});
  const auto is_member = [&](const Source& source) { return std::ranges::find(members, source.partner) != members.end(); };
  const std::optional<Partner> first = entry.sources.empty() ? std::nullopt : std::optional(entry.sources.front().partner);
  const auto has_left = [&](const Source& source) { return source.member && !is_member(source); };
  const bool any_left = std::erase_if(entry.sources, has_left) > 0;
  for (Source& source : entry.sources) source.member = is_member(source);
  for (const Partner& member : members) {
    if (entry.sources.size() >= config_.holders) break;
    if (std::ranges::find(entry.sources, member, &Source::partner) == entry.sources.end())
      entry.sources.push_back({.partner = member, .member = true});
  }
  if (!any_left) return;
  GW_REACHED("blobs: a peer that was asked for one has left the job");
  entry.was_asked = entry.was_asked && !entry.sources.empty() && entry.sources.front().partner == first;
  if (entry.turn == Turn::queued) entry.sources.empty() ? leave_turn(hash, entry) : enqueue(hash, entry);
}

void BlobReferences::on_lost(Time now, const Hash256& hash) {
  const auto found = blobs_.find(hash);
  if (found == blobs_.end() || found->second.state != State::stored || GW_BUG(41)) return;
  GW_REACHED("blobs: one was damaged or gone");
  Entry& entry = found->second;
  entry.state = State::asked;
  entry.damaged = true;
  entry.sources.clear();
  entry.was_asked = false;
  update_holders(hash, entry);
  if (entry.sources.empty()) return give_up_for_now(now, hash, entry);
  rest(hash, entry, now);
}

// All sources are asked again after Config::ask_all_again: a member that has the blob may come back.
void BlobReferences::give_up_for_now(Time now, const Hash256& hash, Entry& entry) {
  GW_REACHED("blobs: nobody has one");
  lost_.push_back(hash);
  for (Source& source : entry.sources) source.lacks = false;
  update_holders(hash, entry);
  rest(hash, entry, now + config_.ask_all_again);
}

void BlobReferences::release(const Hash256& hash, const JobId& job, Actions& out) {
  const auto found = blobs_.find(hash);
  GW_ASSERT(found != blobs_.end());
  std::map<JobId, std::uint32_t>& needs = found->second.needs;
  const auto need = needs.find(job);
  GW_ASSERT(need != needs.end());
  if (--need->second == 0) needs.erase(need);
  if (!needs.empty()) return;
  leave_turn(hash, found->second);
  const Entry entry = std::move(found->second);
  blobs_.erase(found);
  // A blob of unknown size was stored by an earlier boot.
  if (entry.state == State::stored && entry.cached && entry.bytes > 0) {
    for (const Hash256& leaving : cache_.add(hash, entry.bytes)) out.add(DropBlob{leaving});
  } else if (entry.state != State::asked || entry.damaged) {
    out.add(DropBlob{hash});
  }
}

void BlobReferences::set_cache_limit(std::uint64_t bytes, Actions& out) {
  for (const Hash256& leaving : cache_.set_limit(bytes)) out.add(DropBlob{leaving});
}

std::vector<Hash256> BlobReferences::all() const {
  std::vector<Hash256> hashes;
  for (const auto& [hash, entry] : blobs_) hashes.push_back(hash);
  return hashes;
}

bool BlobReferences::on_want(const PeerId& from, const JobId& job, const Hash256& hash, Actions& out) {
  const auto found = blobs_.find(hash);
  const bool may_read = found != blobs_.end() && found->second.needs.contains(job);
  // The blob is on its way to the disk: do not answer that it is lacking. The peer will ask again.
  if (may_read && found->second.state == State::storing) return false;
  if (!may_read || !has(hash)) {
    JobMessage answer;
    answer.mutable_blob()->set_hash(wire::bytes_of(hash));
    answer.mutable_blob()->set_missing(true);
    out.send(from, job, std::move(answer));
    return false;
  }
  const bool loading = waiters_.contains(hash);
  if (!loading && waiters_.size() >= config_.waiters) return false;
  std::set<Partner>& waiters = waiters_[hash];
  if (waiters.size() >= config_.waiters) return false;
  waiters.insert({from, job});
  if (!loading) load(hash, out);
  return true;
}

Status BlobReferences::on_blob(Time now, const PeerId& from, const JobMessage::Blob& message, Actions& out) {
  const Hash256 hash = wire::hash_of(message.hash());
  const auto found = blobs_.find(hash);
  if (found == blobs_.end() || found->second.state != State::asked || disk_full_) return ok();
  Entry& entry = found->second;
  const auto source = std::ranges::find_if(entry.sources, [&](const Source& one) { return one.partner.peer == from; });
  if (source == entry.sources.end()) return ok();                     // this peer was not asked
  if (message.missing() && entry.turn == Turn::nowhere) return ok();  // a swarm has asked
  if (message.missing()) {
    GW_REACHED("blobs: the peer did not have it");
    for (Source& one : entry.sources) one.lacks |= one.partner.peer == from;
    update_holders(hash, entry);
    if (std::ranges::all_of(entry.sources, &Source::lacks)) {
      give_up_for_now(now, hash, entry);
    } else if (entry.turn == Turn::in_flight && entry.asked == from) {
      ask_next(hash, entry);
      ask_queued(now, out);
    }
    return ok();
  }
  if (sha256(as_bytes(message.bytes())) != hash && !GW_BUG(2)) {
    GW_REACHED("blobs: damaged bytes were refused");
    return fail(Kind::corrupt, "blob {} came with bytes of another hash", hash.hex());
  }
  entry.state = State::storing;
  leave_turn(hash, entry);
  store(hash, message.bytes(), out);
  if (unstored_.try_emplace(hash, message.bytes().size()).second) unstored_bytes_ += message.bytes().size();
  ask_queued(now, out);
  return ok();
}

std::uint64_t BlobReferences::bytes_of(const Hash256& hash) const {
  const auto found = blobs_.find(hash);
  return found == blobs_.end() ? 0 : found->second.bytes;
}

void BlobReferences::store(const Hash256& hash, SharedBytes bytes, Actions& out) {
  blobs_.at(hash).bytes = static_cast<std::uint32_t>(bytes.size());
  blobs_.at(hash).damaged = false;
  ++writing_[hash];
  out.add(StoreBlob{hash, std::move(bytes)});
}

void BlobReferences::on_stored(const Hash256& hash) {
  const auto writing = writing_.find(hash);
  if (writing == writing_.end() || --writing->second > 0) return;
  writing_.erase(writing);
  if (const auto came = unstored_.find(hash); came != unstored_.end()) {
    unstored_bytes_ -= came->second;
    unstored_.erase(came);
  }
  // The blob may have been dropped meanwhile and be asked for again: its state changes only if it is still storing.
  if (const auto found = blobs_.find(hash); found != blobs_.end() && found->second.state == State::storing)
    found->second.state = State::stored;
}

void BlobReferences::on_loaded(const Hash256& hash, const std::optional<std::string>& bytes, Actions& out) {
  const auto found = waiters_.find(hash);
  if (found == waiters_.end()) return;
  for (const auto& [peer, job] : found->second) {
    JobMessage answer;
    answer.mutable_blob()->set_hash(wire::bytes_of(hash));
    answer.mutable_blob()->set_missing(!bytes);
    if (bytes) answer.mutable_blob()->set_bytes(*bytes);
    out.send(peer, job, std::move(answer));
  }
  waiters_.erase(found);
}

// --- turns: queued, in flight, at rest

void BlobReferences::leave_turn(const Hash256& hash, Entry& entry) {
  deadlines_.remove(hash);
  const Turn turn = std::exchange(entry.turn, Turn::nowhere);
  if (turn != Turn::queued && turn != Turn::in_flight) return;
  const auto window = windows_.find(entry.asked);
  if (turn == Turn::queued) window->second.queue.erase({entry.order, hash});
  if (turn == Turn::in_flight) --window->second.in_flight;
  note_room(window->first, window->second);
  if (window->second.in_flight == 0 && window->second.queue.empty()) windows_.erase(window);
}

void BlobReferences::note_room(const PeerId& peer, const Window& window) {
  if (window.in_flight < config_.in_flight && !window.queue.empty()) {
    with_room_.insert(peer);
  } else {
    with_room_.erase(peer);
  }
}

void BlobReferences::rest(const Hash256& hash, Entry& entry, Time until) {
  leave_turn(hash, entry);
  entry.turn = Turn::at_rest;
  deadlines_.set(hash, until);
}

void BlobReferences::enqueue(const Hash256& hash, Entry& entry) {
  leave_turn(hash, entry);
  entry.turn = Turn::queued;
  entry.asked = entry.sources.front().partner.peer;
  entry.order = ++next_order_;
  Window& window = windows_[entry.asked];
  window.queue.emplace(entry.order, hash);
  note_room(entry.asked, window);
}

void BlobReferences::ask_next(const Hash256& hash, Entry& entry) {
  if (std::exchange(entry.was_asked, false)) std::rotate(entry.sources.begin(), entry.sources.begin() + 1, entry.sources.end());
  enqueue(hash, entry);
}

void BlobReferences::ask_queued(Time now, Actions& out) {
  while (!with_room_.empty() && may_ask()) {
    const PeerId peer = *with_room_.begin();
    Window& window = windows_.at(peer);
    const Hash256 hash = window.queue.begin()->second;
    window.queue.erase(window.queue.begin());
    ++window.in_flight;
    note_room(peer, window);
    Entry& entry = blobs_.at(hash);
    entry.turn = Turn::in_flight;
    entry.was_asked = true;
    deadlines_.set(hash, now + config_.retry);
    JobMessage message;
    message.mutable_want_blob()->set_hash(wire::bytes_of(hash));
    out.send(peer, entry.sources.front().partner.job, std::move(message));
  }
}

void BlobReferences::on_tick(Time now, Actions& out) {
  if (disk_full_) return;
  while (const auto hash = deadlines_.take_due(now)) {
    Entry& entry = blobs_.at(*hash);
    const bool looks_for_holders = entry.sources.empty() || std::ranges::any_of(entry.sources, &Source::member);
    if (looks_for_holders) update_holders(*hash, entry);
    if (looks_for_holders && std::ranges::all_of(entry.sources, &Source::lacks)) {
      give_up_for_now(now, *hash, entry);
    } else {
      ask_next(*hash, entry);
    }
  }
  ask_queued(now, out);
}

Time BlobReferences::next_deadline() const {
  if (disk_full_) return kNever;
  return with_room_.empty() || !may_ask() ? deadlines_.next() : Time(0);
}

}  // namespace gw::job
