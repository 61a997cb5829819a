#include "job/swarm/chunk_uploads.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {

void ChunkUploads::on_want(Time now, const Request& request, bool from_any, Actions& out) {
  const bool here = blobs_.has(request.hash);
  const Sent sent{request.from, chunk_name(request.hash)};
  if (!here) acknowledge(sent);                                     // it was to be read from the disk, which has lost it
  if (requests_.contains(request) || sent_.contains(sent)) return;  // repeated
  const std::uint64_t bytes = blobs_.bytes_of(request.hash);
  const bool large = bytes == 0 || bytes >= config_.large;
  const bool names_others = from_any && large && !GW_BUG(91);
  if (names_others) {
    const std::vector<PeerId> others = receivers(now, request);
    if (!others.empty()) {
      GW_REACHED("swarm: home names hosts that have a chunk");
      note_receiver(now, request);
      JobMessage answer;
      answer.mutable_blob()->set_hash(wire::bytes_of(request.hash));
      answer.mutable_blob()->set_missing(true);
      for (const PeerId& peer : others) answer.mutable_blob()->add_holders(peer.bytes());
      return out.send(request.from, request.job, std::move(answer));
    }
  }
  // Members that search for a lost chunk ask each other: they must not wait for each other. The same for home, which asks its hosts, and a
  // host that waits for home.
  if (!here && (swarm_.is_home(request.job, request.from) || blobs_.is_searched(request.hash))) {
    blobs_.on_want(request.from, request.job, request.hash, out);
    return;
  }
  if (!add_request(request)) return;
  if (names_others) note_receiver(now, request);
  if (!here) {
    coming_[request.hash].push_back(request);
    return;
  }
  enqueue(request);
  send_queued(now, out);
}

// False: it is beyond a limit.
bool ChunkUploads::add_request(const Request& request) {
  if (requests_.size() >= config_.waiting) return false;
  Receiving& peer = peers_[request.from];
  if (peer.waiting >= config_.waiting_per_peer) {
    GW_REACHED("swarm: a peer has too many requests for chunks");
    return false;
  }
  ++peer.waiting;
  requests_.insert(request);
  return true;
}

void ChunkUploads::remove_request(const Request& request) {
  if (requests_.erase(request) == 0) return;
  --peers_.at(request.from).waiting;
  note(request.from);
}

bool ChunkUploads::may_send(const Receiving& peer) const {
  if (peer.queue.empty()) return false;
  return peer.in_flight == 0 || (!peer.silent && peer.in_flight < config_.window_per_peer);
}

void ChunkUploads::note(const PeerId& id) {
  const auto found = peers_.find(id);
  const bool may = found != peers_.end() && may_send(found->second);
  ready_.erase(id);
  ready_silent_.erase(id);
  if (may) (found->second.silent ? ready_silent_ : ready_).insert(id);
  if (found != peers_.end() && found->second.waiting == 0 && found->second.in_flight == 0 && !found->second.silent) peers_.erase(found);
}

void ChunkUploads::set_silent(const PeerId& id, bool silent) {
  const auto found = peers_.find(id);
  if (found == peers_.end() || found->second.silent == silent) return;
  found->second.silent = silent;
  silent ? in_flight_ -= found->second.in_flight : in_flight_ += found->second.in_flight;
  note(id);
}

// Up to two: those that have announced the chunk, or one of those that have been sent it, or been told who has it, a short time ago.
std::vector<PeerId> ChunkUploads::receivers(Time now, const Request& request) {
  constexpr std::size_t kNamed = 2;
  std::vector<PeerId> list = swarm_.holders(now, request.job, request.hash, request.from, kNamed);
  const auto found = receivers_.find({request.job, request.hash});
  if (!list.empty() || found == receivers_.end()) return list;
  for (const Receiver& receiver : found->second)
    if (receiver.until > now && receiver.peer != request.from) list.push_back(receiver.peer);
  if (list.empty()) return list;
  return {list[rng_.below(list.size())]};
}

void ChunkUploads::note_receiver(Time now, const Request& request) {
  const std::pair key{request.job, request.hash};
  if (receivers_.size() >= config_.receivers && now >= swept_ + config_.sends_on) {
    swept_ = now;
    for (auto& [chunk, list] : receivers_) std::erase_if(list, [&](const Receiver& one) { return one.until <= now; });
    std::erase_if(receivers_, [](const auto& entry) { return entry.second.empty(); });
  }
  if (!receivers_.contains(key) && receivers_.size() >= config_.receivers) return;
  std::vector<Receiver>& list = receivers_[key];
  std::erase_if(list, [&](const Receiver& one) { return one.until <= now || one.peer == request.from; });
  if (list.size() < config_.named) list.push_back({request.from, now + config_.sends_on});
}

// REQUIRES: the request is one of those that wait.
void ChunkUploads::enqueue(const Request& request) {
  peers_.at(request.from).queue.push_back(request);
  note(request.from);
}

void ChunkUploads::send_queued(Time now, Actions& out) {
  while (!ready_silent_.empty()) send_next(now, PeerId(*ready_silent_.begin()), out);
  while (!ready_.empty() && in_flight_ < config_.window) {
    auto next = ready_.upper_bound(last_served_);
    if (next == ready_.end()) next = ready_.begin();
    last_served_ = *next;
    send_next(now, last_served_, out);
  }
}

// A chunk that is lacking, or cannot be read from the disk now, was not sent: its receiver asks again.
void ChunkUploads::send_next(Time now, const PeerId& id, Actions& out) {
  Receiving& peer = peers_.at(id);
  const Request request = peer.queue.front();
  peer.queue.pop_front();
  const Sent sent{request.from, chunk_name(request.hash)};
  acknowledge(sent);
  if (blobs_.on_want(request.from, request.job, request.hash, out)) {
    const std::uint64_t known = blobs_.bytes_of(request.hash);
    const std::uint64_t bytes = known == 0 ? wire::kMaxBlobBytes : known;
    sent_[sent] = bytes;
    peer.in_flight += bytes;
    if (!peer.silent) in_flight_ += bytes;
    sent_bytes_ += bytes;
    deadlines_.set(sent, now + config_.acknowledged);
  }
  remove_request(request);
}

void ChunkUploads::acknowledge(const Sent& sent) {
  const auto found = sent_.find(sent);
  if (found == sent_.end()) return;
  Receiving& peer = peers_.at(sent.first);
  peer.in_flight -= found->second;
  if (!peer.silent) in_flight_ -= found->second;
  sent_.erase(found);
  deadlines_.remove(sent);
  note(sent.first);
}

void ChunkUploads::on_have(Time now, const PeerId& from, const JobMessage::Have& have, Actions& out) {
  for (const std::uint64_t name : have.chunks()) {
    const Sent sent{from, name};
    if (!sent_.contains(sent)) continue;
    set_silent(from, false);
    peers_.at(from).heard = now;
    acknowledge(sent);
  }
  send_queued(now, out);
}

void ChunkUploads::on_stored(Time now, const Hash256& hash, Actions& out) {
  const auto found = coming_.find(hash);
  if (found == coming_.end()) return;
  for (const Request& request : found->second) enqueue(request);
  coming_.erase(found);
  send_queued(now, out);
}

void ChunkUploads::on_lost(const Hash256& hash, Actions& out) {
  const auto found = coming_.find(hash);
  if (found == coming_.end()) return;
  GW_REACHED("swarm: a chunk that others wait for here was given up");
  const std::vector<Request> waiting = std::move(found->second);
  coming_.erase(found);
  for (const Request& request : waiting) {
    remove_request(request);
    blobs_.on_want(request.from, request.job, hash, out);
  }
}

void ChunkUploads::on_peer_gone(Time now, const PeerId& peer, Actions& out) {
  for (auto sent = sent_.lower_bound({peer, 0}); sent != sent_.end() && sent->first.first == peer;) acknowledge(Sent((sent++)->first));
  forget_waiting(peer);
  set_silent(peer, false);
  for (auto& [key, list] : receivers_) std::erase_if(list, [&](const Receiver& one) { return one.peer == peer; });
  send_queued(now, out);
}

// Also the requests for chunks that are not here yet: after a restart the peer asks again.
void ChunkUploads::forget_waiting(const PeerId& peer) {
  const auto of_peer = [&](const Request& request) { return request.from == peer; };
  for (auto request = requests_.lower_bound({peer, {}, {}}); request != requests_.end() && of_peer(*request);) {
    const Request one = *request++;
    if (const auto coming = coming_.find(one.hash); coming != coming_.end()) {
      std::erase_if(coming->second, of_peer);
      if (coming->second.empty()) coming_.erase(coming);
    }
    if (const auto found = peers_.find(peer); found != peers_.end()) found->second.queue.clear();
    remove_request(one);
  }
}

void ChunkUploads::close(const JobId& job) {
  const auto of_job = [&](const Request& request) { return request.job == job; };
  for (auto& [hash, list] : coming_) std::erase_if(list, of_job);
  std::erase_if(coming_, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [peer, receiving] : peers_) std::erase_if(receiving.queue, of_job);
  std::vector<Request> ended;
  std::ranges::copy_if(requests_, std::back_inserter(ended), of_job);
  for (const Request& request : ended) remove_request(request);
  Hash256 last;
  last.bytes.fill(0xff);
  receivers_.erase(receivers_.lower_bound({job, {}}), receivers_.upper_bound({job, last}));
}

void ChunkUploads::on_tick(Time now, Actions& out) {
  while (const auto sent = deadlines_.take_due(now)) {
    GW_REACHED("swarm: a chunk was not acknowledged");
    if (peers_.at(sent->first).heard <= now - config_.acknowledged) set_silent(sent->first, true);
    acknowledge(*sent);
  }
  send_queued(now, out);
}

}  // namespace gw::job
