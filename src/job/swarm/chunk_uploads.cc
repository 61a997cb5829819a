#include "job/swarm/chunk_uploads.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {

void ChunkUploads::on_want(Time now, const Request& request, bool from_any, Actions& out) {
  if (requests_.contains(request) || sent_.contains({request.from, chunk_name(request.hash)})) return;  // repeated
  const std::uint64_t bytes = blobs_.bytes_of(request.hash);
  const bool large = bytes == 0 || bytes >= config_.large;
  if (from_any && large && !GW_BUG(91)) {
    const std::vector<PeerId> others = receivers(now, request);
    note_receiver(now, request);
    if (!others.empty()) {
      GW_REACHED("swarm: home names hosts that have a chunk");
      JobMessage answer;
      answer.mutable_blob()->set_hash(wire::bytes_of(request.hash));
      answer.mutable_blob()->set_missing(true);
      for (const PeerId& peer : others) answer.mutable_blob()->add_holders(peer.bytes());
      return out.send(request.from, request.job, std::move(answer));
    }
  }
  if (requests_.size() >= config_.waiting) return;
  if (blobs_.has(request.hash)) {
    enqueue(request);
    return send_queued(now, out);
  }
  // Home asks its hosts for a chunk that it has lost. A host that lacks it too waits for home: they must not wait for each other.
  if (swarm_.is_home(request.job, request.from)) return blobs_.on_want(request.from, request.job, request.hash, out);
  requests_.insert(request);
  coming_[request.hash].push_back(request);
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
  if (!receivers_.contains(key) && receivers_.size() >= config_.receivers) return;
  std::vector<Receiver>& list = receivers_[key];
  std::erase_if(list, [&](const Receiver& one) { return one.until <= now || one.peer == request.from; });
  if (list.size() < config_.named) list.push_back({request.from, now + config_.sends_on});
}

void ChunkUploads::enqueue(const Request& request) {
  std::deque<Request>& queue = queues_[request.from];
  if (queue.size() >= config_.waiting_per_peer) return;
  requests_.insert(request);
  queue.push_back(request);
}

void ChunkUploads::send_queued(Time now, Actions& out) {
  while (!queues_.empty() && in_flight_ < config_.window) {
    auto next = queues_.upper_bound(last_served_);
    if (next == queues_.end()) next = queues_.begin();
    last_served_ = next->first;
    const Request request = next->second.front();
    next->second.pop_front();
    if (next->second.empty()) queues_.erase(next);
    requests_.erase(request);
    const std::uint64_t known = blobs_.bytes_of(request.hash);
    const std::uint64_t bytes = known == 0 ? wire::kMaxBlobBytes : known;
    const Sent sent{request.from, chunk_name(request.hash)};
    acknowledge(sent);
    sent_[sent] = bytes;
    in_flight_ += bytes;
    sent_bytes_ += bytes;
    deadlines_.set(sent, now + config_.acknowledged);
    blobs_.on_want(request.from, request.job, request.hash, out);
  }
}

void ChunkUploads::acknowledge(const Sent& sent) {
  const auto found = sent_.find(sent);
  if (found == sent_.end()) return;
  in_flight_ -= found->second;
  sent_.erase(found);
  deadlines_.remove(sent);
}

void ChunkUploads::on_have(Time now, const PeerId& from, const JobMessage::Have& have, Actions& out) {
  for (const std::uint64_t name : have.chunks()) acknowledge({from, name});
  send_queued(now, out);
}

void ChunkUploads::on_stored(Time now, const Hash256& hash, Actions& out) {
  const auto found = coming_.find(hash);
  if (found == coming_.end()) return;
  for (const Request& request : found->second) {
    requests_.erase(request);
    enqueue(request);
  }
  coming_.erase(found);
  send_queued(now, out);
}

void ChunkUploads::on_peer_gone(Time now, const PeerId& peer, Actions& out) {
  for (auto sent = sent_.lower_bound({peer, 0}); sent != sent_.end() && sent->first.first == peer;) acknowledge(Sent((sent++)->first));
  if (const auto queue = queues_.find(peer); queue != queues_.end()) {
    for (const Request& request : queue->second) requests_.erase(request);
    queues_.erase(queue);
  }
  for (auto& [key, list] : receivers_) std::erase_if(list, [&](const Receiver& one) { return one.peer == peer; });
  send_queued(now, out);
}

void ChunkUploads::close(const JobId& job) {
  const auto of_job = [&](const Request& request) { return request.job == job; };
  std::erase_if(requests_, of_job);
  for (auto& [peer, queue] : queues_) std::erase_if(queue, of_job);
  std::erase_if(queues_, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [hash, list] : coming_) std::erase_if(list, of_job);
  std::erase_if(coming_, [](const auto& entry) { return entry.second.empty(); });
  Hash256 last;
  last.bytes.fill(0xff);
  receivers_.erase(receivers_.lower_bound({job, {}}), receivers_.upper_bound({job, last}));
}

void ChunkUploads::on_tick(Time now, Actions& out) {
  while (const auto sent = deadlines_.take_due(now)) {
    GW_REACHED("swarm: a chunk was not acknowledged");
    acknowledge(*sent);
  }
  send_queued(now, out);
}

}  // namespace gw::job
