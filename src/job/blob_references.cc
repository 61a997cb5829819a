#include "job/blob_references.h"

#include <algorithm>
#include <ranges>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {
namespace {

// How many of the blobs that are asked for are looked at in one turn. More than the window of several peers, so that one that is dead does
// not hold up what others have.
constexpr std::size_t kLookedAt = 1024;

}  // namespace

bool BlobReferences::has(const Hash256& hash) const {
  const auto found = blobs_.find(hash);
  return found != blobs_.end() && found->second.state == State::stored;
}

void BlobReferences::adopt(const Hash256& hash) {
  const auto [found, fresh] = blobs_.try_emplace(hash, Entry{.state = State::stored});
  if (!fresh) ++found->second.needs;
}

void BlobReferences::put(Blob blob, Actions& out) {
  const auto [found, fresh] = blobs_.try_emplace(blob.hash, Entry{.state = State::storing});
  if (!fresh) ++found->second.needs;
  if (!fresh && found->second.state != State::asked) return;
  found->second.state = State::storing;
  asked_.erase(blob.hash);
  store(blob.hash, std::move(blob.bytes), out);
}

Status BlobReferences::want(Time now, const Hash256& hash, const JobId& job, const PeerId& from, Actions& out) {
  const auto found = blobs_.find(hash);
  if (found != blobs_.end()) {
    ++found->second.needs;
    if (found->second.state == State::asked) add_source(found->second, {from, job});
    return ok();
  }
  if (blobs_.size() >= config_.blobs) return fail(Kind::overloaded, "this peer holds {} blobs, which is its limit", blobs_.size());
  blobs_.emplace(hash, Entry{.state = State::asked, .sources = {{from, job}}, .ask_again = now});
  asked_.insert(hash);
  if (GW_BUG(37) && asked_.size() > config_.in_flight) asked_.erase(hash);
  if (asked_.size() <= config_.in_flight) on_tick(now, out);  // else its turn comes
  return ok();
}

// Who is named last is asked next: it is the better guess, since those before may be dead. But they may have it, and this one not any more.
void BlobReferences::add_source(Entry& entry, const Partner& from) const {
  if (std::ranges::find(entry.sources, from) != entry.sources.end()) return;
  entry.sources.insert(entry.sources.begin() + (entry.was_asked ? 1 : 0), from);
  if (entry.sources.size() > config_.sources) entry.sources.pop_back();
}

void BlobReferences::release(const Hash256& hash, Actions& out) {
  const auto found = blobs_.find(hash);
  GW_ASSERT(found != blobs_.end());
  if (--found->second.needs > 0) return;
  if (found->second.state != State::asked) out.add(DropBlob{hash});
  asked_.erase(hash);
  blobs_.erase(found);
}

std::vector<Hash256> BlobReferences::all() const {
  std::vector<Hash256> hashes;
  for (const auto& [hash, entry] : blobs_) hashes.push_back(hash);
  return hashes;
}

void BlobReferences::on_want(const PeerId& from, const JobId& job, const Hash256& hash, Actions& out) {
  if (!has(hash)) {
    JobMessage answer;
    answer.mutable_blob()->set_hash(wire::bytes_of(hash));
    answer.mutable_blob()->set_missing(true);
    out.send(from, job, std::move(answer));
    return;
  }
  const bool loading = waiters_.contains(hash);
  if (!loading && waiters_.size() >= config_.waiters) return;  // it will ask again
  std::set<Partner>& waiters = waiters_[hash];
  if (waiters.size() < config_.waiters) waiters.insert({from, job});
  if (!loading) load(hash, out);
}

Status BlobReferences::on_blob(const PeerId& from, const JobMessage::Blob& message, Actions& out) {
  const Hash256 hash = wire::hash_of(message.hash());
  const auto found = blobs_.find(hash);
  // Nobody asked, at least not this one, or it came twice.
  if (found == blobs_.end() || found->second.state != State::asked ||
      std::ranges::find(found->second.sources, from, &Partner::peer) == found->second.sources.end())
    return ok();
  if (message.missing()) {
    GW_REACHED("blobs: the peer did not have it");
    return ok();
  }
  if (sha256(as_bytes(message.bytes())) != hash && !GW_BUG(2)) {
    GW_REACHED("blobs: damaged bytes were refused");
    return fail(Kind::corrupt, "blob {} came with bytes of another hash", hash.hex());
  }
  found->second.state = State::storing;
  asked_.erase(hash);
  store(hash, message.bytes(), out);
  return ok();
}

void BlobReferences::store(const Hash256& hash, std::string bytes, Actions& out) {
  ++writing_[hash];
  out.add(StoreBlob{hash, std::move(bytes)});
}

void BlobReferences::on_stored(const Hash256& hash) {
  const auto writing = writing_.find(hash);
  if (writing == writing_.end() || --writing->second > 0) return;
  writing_.erase(writing);
  // It may have been dropped meanwhile, and asked for again after that.
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

void BlobReferences::on_tick(Time now, Actions& out) {
  std::map<PeerId, std::size_t> in_flight;
  for (const Hash256& hash : asked_ | std::views::take(kLookedAt)) {
    Entry& entry = blobs_.at(hash);
    if (in_flight[entry.sources.front().peer]++ >= config_.in_flight || entry.ask_again > now) continue;
    if (entry.was_asked) std::rotate(entry.sources.begin(), entry.sources.begin() + 1, entry.sources.end());
    entry.was_asked = true;
    entry.ask_again = now + config_.retry;
    JobMessage message;
    message.mutable_want_blob()->set_hash(wire::bytes_of(hash));
    out.send(entry.sources.front().peer, entry.sources.front().job, std::move(message));
  }
}

Time BlobReferences::next_deadline() const {
  Time next = kNever;
  std::map<PeerId, std::size_t> in_flight;
  for (const Hash256& hash : asked_ | std::views::take(kLookedAt)) {
    const Entry& entry = blobs_.at(hash);
    if (in_flight[entry.sources.front().peer]++ < config_.in_flight) next = std::min(next, entry.ask_again);
  }
  return next;
}

}  // namespace gw::job
