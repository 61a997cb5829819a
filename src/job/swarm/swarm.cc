#include "job/swarm/swarm.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {
namespace {

constexpr std::size_t kRequestsOfOneChunk = 2;  // at hosts; one more at home
constexpr int kPatience = 3;  // a peer is overdue after so many times its usual time, and given up after so many times that
constexpr int kSlowest = 2;   // of the usual time of all hosts of a job

constexpr int kWeight = 4, kWeightInJob = 16;  // of the past in a mean, against 1

// 0: there was none yet.
Time mean(Time past, Time next, int weight) { return past == Time(0) ? next : ((weight - 1) * past + next) / weight; }

}  // namespace

std::uint64_t chunk_name(const Hash256& hash) {
  std::uint64_t name = 0;
  for (std::size_t i = 0; i < sizeof name; ++i) name = name << 8 | hash.bytes[i];
  return name;
}

Swarm::Job* Swarm::find(const JobId& job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

Swarm::Partner* Swarm::find(const Link& link) {
  Job* const job = find(link.job);
  if (job == nullptr) return nullptr;
  const auto found = job->partners.find(link.peer);
  return found == job->partners.end() ? nullptr : &found->second;
}

void Swarm::open(const JobId& job, const std::optional<PeerId>& home) {
  Job& opened = jobs_[job];
  opened.home = home;
  if (home) opened.partners[*home].home = true;
}

void Swarm::close(const JobId& id) {
  Job* const job = find(id);
  if (job == nullptr) return;
  std::vector<Hash256> wanted;
  for (const auto& [hash, entry] : wanted_)
    if (entry.jobs.contains(id)) wanted.push_back(hash);
  for (const Hash256& hash : wanted) remove(hash, id);
  while (!job->partners.empty()) remove_partner(Time(0), {id, job->partners.begin()->first});
  announcements_.remove(id);
  jobs_.erase(id);
}

// --- partners

// nullptr: there is no room for another one. Home, which looks for no partners, forgets those that have left when it has no room.
Swarm::Partner* Swarm::add_partner(Time now, const JobId& id, Job& job, const PeerId& peer) {
  if (const auto found = job.partners.find(peer); found != job.partners.end()) return &found->second;
  if (job.partners.size() >= config_.accepted && !job.home && now >= job.look_at) {
    job.look_at = now + config_.look_every;
    remove_left(now, id, job, members_(id));
  }
  if (job.partners.size() >= config_.accepted) return nullptr;
  Partner& partner = job.partners[peer];
  partner.distance = distance_(peer);
  note_room({id, peer}, partner);
  return &partner;
}

// Chunks that were asked of the peer, or were to be, are asked of others.
void Swarm::remove_partner(Time now, const Link& link) {
  Partner& partner = *find(link);
  std::vector<Hash256> affected;
  for (auto sent = flights_.lower_bound({link, {}}); sent != flights_.end() && sent->first.link == link;) {
    const auto ended = sent++;
    affected.push_back(ended->first.hash);
    end_flight(Flight(ended->first), ended);
  }
  for (const auto& [order, hash] : partner.queue) affected.push_back(hash);
  for (const Hash256& hash : affected)
    if (const auto wanted = wanted_.find(hash); wanted != wanted_.end()) leave_queues(hash, wanted->second);
  partner.queue.clear();
  note_room(link, partner);
  find(link.job)->partners.erase(link.peer);
  for (const Hash256& hash : affected)
    if (const auto wanted = wanted_.find(hash); wanted != wanted_.end()) place(now, hash, wanted->second);
}

void Swarm::remove_left(Time now, const JobId& id, Job& job, const std::vector<PeerId>& members) {
  const std::set<PeerId> present(members.begin(), members.end());
  std::vector<PeerId> left;
  for (const auto& [peer, partner] : job.partners)
    if (!partner.home && !present.contains(peer)) left.push_back(peer);
  for (const PeerId& peer : left) remove_partner(now, {id, peer});
}

// Of many members half of the partners are the nearest ones and half are drawn: near partners alone would be islands, between which only
// home carries chunks. Hosts that have left the roster are partners no more.
void Swarm::look_for_partners(Time now, const JobId& id, Job& job, Actions& out) {
  if (now < job.look_at || !job.home) return;
  job.look_at = now + config_.look_every;
  std::vector<PeerId> members = members_(id);
  std::erase(members, *job.home);
  remove_left(now, id, job, members);
  std::erase_if(members, [&](const PeerId& peer) { return job.partners.contains(peer); });
  const std::size_t more = config_.partners - std::min(config_.partners, job.partners.size() - 1);
  if (members.size() > more) {
    const auto drawn = members.begin() + static_cast<std::ptrdiff_t>(more / 2);
    for (auto one = members.begin(); one != drawn; ++one)
      std::iter_swap(one, one + static_cast<std::ptrdiff_t>(rng_.below(static_cast<std::uint64_t>(members.end() - one))));
    std::sort(drawn, members.end(),
              [&](const PeerId& a, const PeerId& b) { return std::pair(distance_(a), a) < std::pair(distance_(b), b); });
    members.resize(more);
  }
  if (!job.here.empty()) members.push_back(*job.home);
  for (const PeerId& peer : members) {
    Partner* const partner = add_partner(now, id, job, peer);
    if (partner == nullptr || std::exchange(partner->greeted, true)) continue;
    JobMessage message = all_here(job);
    message.mutable_have()->set_greeting(true);
    out.send(peer, id, std::move(message));
  }
}

// --- what this peer has

void Swarm::add_here(Time now, const Hash256& hash, const JobId& id) {
  Job* const job = find(id);
  if (job == nullptr || !job->home || !job->here.insert(hash).second) return;
  job->news.push_back(chunk_name(hash));
  const auto wanted = wanted_.find(hash);
  const bool small = wanted != wanted_.end() && wanted->second.chunk.bytes < config_.small && job->news.size() < config_.window_chunks / 2;
  const Time at = small ? now + config_.announce_small : now;
  if (job->news.size() == 1 || !small) announcements_.set(id, at);
  if (wanted == wanted_.end()) return;
  // Peers that were asked too and have not answered keep their time: one that never answers is left out.
  for (const Link& link : std::vector(wanted->second.asked))
    if (find(link)->home) end_flight({link, hash}, flights_.find({link, hash}));
  leave_queues(hash, wanted->second);
  wanted->second.jobs.erase(id);
  if (wanted->second.jobs.empty()) wanted_.erase(wanted);
}

void Swarm::remove(const Hash256& hash, const JobId& id) {
  if (Job* const job = find(id)) job->here.erase(hash);
  const auto wanted = wanted_.find(hash);
  if (wanted == wanted_.end() || wanted->second.jobs.erase(id) == 0) return;
  leave_queues(hash, wanted->second);
  if (wanted->second.jobs.empty()) {
    wanted_.erase(wanted);
  } else {
    place(Time(0), hash, wanted->second);
  }
}

JobMessage Swarm::all_here(const Job& job) {
  JobMessage message;
  for (const Hash256& hash : job.here) {
    if (message.have().chunks_size() >= wire::kMaxHave) break;
    message.mutable_have()->add_chunks(chunk_name(hash));
  }
  return message;
}

void Swarm::announce(const JobId& id, Job& job, Actions& out) {
  const std::vector<std::uint64_t> news = std::exchange(job.news, {});
  // A partner that has the chunk may have sent it, and then waits for this: it is the acknowledgement.
  for (std::size_t first = 0; first < news.size(); first += wire::kMaxHave) {
    JobMessage message;
    for (std::size_t i = first; i < std::min<std::size_t>(news.size(), first + wire::kMaxHave); ++i)
      message.mutable_have()->add_chunks(news[i]);
    for (const auto& [peer, partner] : job.partners) out.send(peer, id, message);
  }
}

// --- what others have

void Swarm::learn(Time now, const JobId& id, Job& job, const PeerId& peer, std::uint64_t name) {
  Partner* const partner = add_partner(now, id, job, peer);
  if (partner == nullptr || partner->home || partner->has.contains(name)) return;
  // Any of them: if it were the first one, chunks with small names would never be known.
  if (partner->has.size() >= config_.announced) {
    const auto drawn = partner->has.lower_bound(rng_.next());
    partner->has.erase(drawn == partner->has.end() ? partner->has.begin() : drawn);
  }
  partner->has.insert(name);
  Hash256 first{};
  for (std::size_t i = 0; i < sizeof name; ++i) first.bytes[i] = static_cast<std::uint8_t>(name >> (56 - 8 * i));
  for (auto wanted = wanted_.lower_bound(first); wanted != wanted_.end() && chunk_name(wanted->first) == name; ++wanted)
    if (wanted->second.jobs.contains(id)) place(now, wanted->first, wanted->second);
}

void Swarm::on_have(Time now, const PeerId& from, const JobId& id, const JobMessage::Have& have, Actions& out) {
  Job* const job = find(id);
  if (job == nullptr) return;
  for (const std::uint64_t name : have.chunks()) learn(now, id, *job, from, name);
  ask(now, out);
  if (!have.greeting() || !job->home) return;
  Partner* const partner = add_partner(now, id, *job, from);
  if (partner == nullptr) return;
  partner->greeted = true;
  if (!job->here.empty()) out.send(from, id, all_here(*job));
}

std::vector<PeerId> Swarm::holders(Time now, const JobId& id, const Hash256& hash, const PeerId& without, std::size_t most) {
  std::vector<PeerId> list;
  if (Job* const job = find(id))
    for (const auto& [peer, partner] : job->partners)
      if (peer != without && usable(now, partner) && partner.has.contains(chunk_name(hash))) list.push_back(peer);
  if (list.size() <= most) return list;
  std::ranges::rotate(list, list.begin() + static_cast<std::ptrdiff_t>(rng_.below(list.size())));
  list.resize(most);
  return list;
}

// --- queues

bool Swarm::has_room(const Partner& partner) const {
  return partner.chunks < config_.window_chunks && partner.bytes < (partner.home ? config_.home_window : config_.window);
}

void Swarm::note_room(const Link& link, const Partner& partner) {
  const Room room{partner.home, partner.distance, link};
  if (has_room(partner) && !partner.queue.empty()) {
    rooms_.insert(room);
  } else {
    rooms_.erase(room);
  }
}

void Swarm::leave_queues(const Hash256& hash, Wanted& wanted) {
  for (const Link& link : std::exchange(wanted.queued, {})) {
    Partner& partner = *find(link);
    partner.queue.erase({wanted.order, hash});
    note_room(link, partner);
  }
}

void Swarm::place(Time now, const Hash256& hash, Wanted& wanted) {
  leave_queues(hash, wanted);
  if (!blobs_.is_asked(hash)) return;  // it has come, and waits for the disk
  const auto on_time = [&](const Link& link) { return !flights_.at({link, hash}).overdue; };
  if (std::ranges::any_of(wanted.asked, on_time)) return;
  // Two hosts have sent nothing: others that say they have the chunk may be of the same kind. Home is asked beside them.
  const auto is_host = [&](const Link& link) { return !find(link)->home; };
  const bool hosts = static_cast<std::size_t>(std::ranges::count_if(wanted.asked, is_host)) < kRequestsOfOneChunk;
  const std::uint64_t name = chunk_name(hash);
  const auto was_asked = [&](const Link& link) { return std::ranges::find(wanted.asked, link) != wanted.asked.end(); };
  std::vector<Link> homes;
  for (const JobId& id : wanted.jobs)
    for (const auto& [peer, partner] : jobs_.at(id).partners) {
      const Link link{id, peer};
      if (was_asked(link)) continue;
      if (partner.home) homes.push_back(link);
      if (hosts && !partner.home && usable(now, partner) && partner.has.contains(name)) wanted.queued.push_back(link);
    }
  wanted.order = {wanted.chunk.priority, wanted.queued.size(), wanted.tie};
  if (wanted.queued.empty() && !wanted.home_lacks) wanted.queued = homes;
  for (const Link& link : wanted.queued) {
    Partner& partner = *find(link);
    partner.queue.insert({wanted.order, hash});
    note_room(link, partner);
  }
  if (!wanted.queued.empty() || !wanted.asked.empty()) return;
  GW_REACHED("swarm: home lacks a chunk, and no partner has it");
  unserved_.push_back(hash);
}

void Swarm::place_queue_again(Time now, Partner& partner) {
  std::vector<Hash256> hashes;
  for (const auto& [order, hash] : partner.queue) hashes.push_back(hash);
  for (const Hash256& hash : hashes) place(now, hash, wanted_.at(hash));
}

// --- requests

void Swarm::want(Time now, const Chunk& chunk, const JobId& id, Actions& out) {
  Job* const job = find(id);
  if (job == nullptr) return;
  look_for_partners(now, id, *job, out);
  const auto [found, fresh] = wanted_.try_emplace(chunk.hash, Wanted{.chunk = chunk, .tie = rng_.next()});
  found->second.jobs.insert(id);
  found->second.chunk.priority = std::min(found->second.chunk.priority, chunk.priority);
  place(now, chunk.hash, found->second);
  ask(now, out);
}

void Swarm::ask(Time now, Actions& out) {
  while (!rooms_.empty() && blobs_.may_ask()) {
    const Link link = std::get<Link>(*rooms_.begin());
    Partner& partner = *find(link);
    const Hash256 hash = partner.queue.begin()->second;
    Wanted& wanted = wanted_.at(hash);
    leave_queues(hash, wanted);
    if (!blobs_.is_asked(hash)) continue;
    wanted.asked.push_back(link);
    flights_[{link, hash}] = {now, wanted.chunk.bytes};
    partner.bytes += wanted.chunk.bytes;
    ++partner.chunks;
    note_room(link, partner);
    deadlines_.set({link, hash}, now + overdue_after(link));
    blobs_.ask(hash, link.job, link.peer, partner.home && !wanted.insists, out);
  }
}

// The usual time of a host counts only as far as that of all hosts of the job: one that is slow, or pretends to be, does not hold chunks
// back that others have.
Time Swarm::overdue_after(const Link& link) {
  const Partner& partner = *find(link);
  if (partner.pace == Time(0)) return config_.first_overdue;
  const Time usual = partner.home ? partner.pace : std::min(partner.pace, kSlowest * find(link.job)->pace);
  return std::clamp(kPatience * usual, config_.least_overdue, config_.most_overdue);
}

void Swarm::end_flight(const Flight& flight, std::map<Flight, Sent>::iterator sent) {
  Partner& partner = *find(flight.link);
  partner.bytes -= sent->second.bytes;
  --partner.chunks;
  flights_.erase(sent);
  deadlines_.remove(flight);
  note_room(flight.link, partner);
  if (const auto wanted = wanted_.find(flight.hash); wanted != wanted_.end()) std::erase(wanted->second.asked, flight.link);
}

void Swarm::leave_out(Time now, const Link& link, Partner& partner) {
  if (partner.home) return;
  GW_REACHED("swarm: a partner is left out");
  partner.left_out_until = now + config_.left_out;
  partner.misses = 0;
  place_queue_again(now, partner);
  note_room(link, partner);
}

void Swarm::on_answer(Time now, const PeerId& from, const JobId& id, const JobMessage::Blob& answer, bool good, Actions& out) {
  const Flight flight{{id, from}, wire::hash_of(answer.hash())};
  const auto sent = flights_.find(flight);
  if (sent == flights_.end()) return;  // late, or not asked for
  const Time took = now - sent->second.at;
  Partner& partner = *find(flight.link);
  end_flight(flight, sent);
  const auto wanted = wanted_.find(flight.hash);
  if (!good) {
    leave_out(now, flight.link, partner);
  } else if (answer.missing()) {
    partner.has.erase(chunk_name(flight.hash));
    const std::vector<PeerId> members = answer.holders().empty() ? std::vector<PeerId>() : members_(id);
    for (const std::string& holder : answer.holders()) {
      const PeerId named{wire::hash_of(holder)};
      if (partner.home && std::ranges::find(members, named) != members.end()) learn(now, id, *find(id), named, chunk_name(flight.hash));
    }
    if (partner.home && answer.holders().empty() && wanted != wanted_.end()) wanted->second.home_lacks = true;
    if (++partner.misses >= config_.misses) leave_out(now, flight.link, partner);
  } else {
    partner.pace = mean(partner.pace, took, kWeight);
    if (Time& pace = find(id)->pace; !partner.home) pace = mean(pace, took, kWeightInJob);
    partner.misses = 0;
  }
  // A chunk that has come waits for the disk. One that was not stored, because the disk is full, is asked for again.
  if (wanted != wanted_.end()) {
    // Home has named hosts that are not used here: it has to send the chunk itself.
    if (partner.home && !answer.holders().empty() && wanted->second.queued.empty()) wanted->second.insists = true;
    place(now, flight.hash, wanted->second);
  }
  ask(now, out);
}

// First overdue: the chunk may be asked of a second peer. Then given up: the peer has sent nothing in all this time. Home is asked again
// instead: it may be slow, since all hosts ask it, or the message was lost; the overlay finds out if it is dead.
void Swarm::on_overdue(Time now, const Flight& flight, Actions& out) {
  const auto sent = flights_.find(flight);
  Partner& partner = *find(flight.link);
  const auto wanted = wanted_.find(flight.hash);
  const bool again = partner.home && wanted != wanted_.end() && blobs_.is_asked(flight.hash);
  if (!sent->second.overdue || again) {
    GW_REACHED("swarm: a request is overdue");
    sent->second.overdue = true;
    deadlines_.set(flight, again ? now + overdue_after(flight.link) : sent->second.at + kPatience * overdue_after(flight.link));
    if (again) blobs_.ask(flight.hash, flight.link.job, flight.link.peer, false, out);
  } else {
    end_flight(flight, sent);
    partner.pace = Time(0);
    leave_out(now, flight.link, partner);
  }
  if (wanted == wanted_.end()) return;
  wanted->second.insists = true;
  place(now, flight.hash, wanted->second);
  ask(now, out);
}

void Swarm::on_peer_gone(Time now, const PeerId& peer, Actions& out) {
  for (auto& [id, job] : jobs_) {
    if (!job.partners.contains(peer)) continue;
    remove_partner(now, {id, peer});
    if (job.home == peer) job.partners[peer].home = true;
    job.look_at = Time(0);
  }
  ask(now, out);
}

// A partner with room and a queue waits for the disk only.
Time Swarm::next_deadline() const {
  if (!rooms_.empty() && blobs_.may_ask()) return Time(0);
  return std::min(deadlines_.next(), announcements_.next());
}

void Swarm::on_tick(Time now, Actions& out) {
  while (const auto flight = deadlines_.take_due(now)) on_overdue(now, *flight, out);
  while (const auto id = announcements_.take_due(now)) announce(*id, jobs_.at(*id), out);
  ask(now, out);
}

}  // namespace gw::job
