#include "faults/saboteur.h"

#include <array>

#include "job/swarm/swarm.h"
#include "wire/messages/peer_messages.h"

namespace gw::sim {

using wire::pb::Effect;
using wire::pb::JobMessage;
using wire::pb::PeerMessage;

namespace {

void set_thread(const JobMessage::Effects& effects, JobMessage::ThreadName& name) {
  name.set_thread(effects.thread());
  name.set_epoch(effects.epoch());
}

// Says something about the threads or tasks under a claim.
bool is_of_host(const JobMessage& job) {
  return job.has_status() || job.has_no_claim() || job.has_effects() || job.has_task_report() || job.has_thread_failed() ||
         job.has_suspended();
}

}  // namespace

Saboteur::Saboteur(Rng rng, Part part) : habit_(Habit::idles) {
  if (part == Part::idler) return;
  constexpr std::array kOfKeepers{Habit::never_keeps, Habit::forgets};
  constexpr std::array kOfHosts{Habit::idles, Habit::blames, Habit::refuses, Habit::suspends, Habit::ends_twice};
  constexpr std::array kOfSeeders{Habit::forges, Habit::withholds, Habit::lacks};
  constexpr std::array kOfRelays{Habit::stops_searches, Habit::repeats_searches, Habit::declines, Habit::falls_silent};
  if (part == Part::relay) {
    habit_ = kOfRelays.at(rng.below(kOfRelays.size()));
    return;
  }
  if (part == Part::seeder) {
    habit_ = kOfSeeders.at(rng.below(kOfSeeders.size()));
    return;
  }
  const std::size_t drawn = rng.below(part == Part::keeper ? kOfKeepers.size() : kOfKeepers.size() + kOfHosts.size());
  habit_ = drawn < kOfKeepers.size() ? kOfKeepers.at(drawn) : kOfHosts.at(drawn - kOfKeepers.size());
}

bool Saboteur::brings_announced_chunk(const JobMessage& message) const {
  return message.has_blob() && announced_.contains(job::chunk_name(wire::hash_of(message.blob().hash())));
}

std::vector<Bytes> Saboteur::replace(const PeerMessage& message, Bytes encoded) {
  const JobMessage& job = message.job();
  announced_.insert(job.have().chunks().begin(), job.have().chunks().end());
  if (habit_ == Habit::idles && (job.has_effects() || job.task_report().number() > 0)) return {};
  if (habit_ == Habit::never_keeps && job.has_kept()) return {};
  if (habit_ == Habit::withholds && brings_announced_chunk(job)) return {};
  if (habit_ == Habit::stops_searches && job.has_search()) return {};
  if (habit_ == Habit::repeats_searches && job.has_search()) return {encoded, encoded};
  if (habit_ == Habit::falls_silent && is_of_host(job)) return {};
  PeerMessage changed = message;
  if (habit_ == Habit::forges && brings_announced_chunk(job) && !job.blob().bytes().empty()) {
    changed.mutable_job()->mutable_blob()->mutable_bytes()->front() ^= 1;
  } else if (habit_ == Habit::declines && job.has_offer()) {
    JobMessage::Decline& decline = *changed.mutable_job()->mutable_decline();
    decline.set_round(job.offer().round());
    decline.set_sentence("its slots are taken");
  } else if (habit_ == Habit::lacks && brings_announced_chunk(job)) {
    changed.mutable_job()->mutable_blob()->clear_bytes();
    changed.mutable_job()->mutable_blob()->set_missing(true);
  } else if (habit_ == Habit::idles && job.has_status()) {
    changed.mutable_job()->mutable_status()->set_progress(job.status().number());
  } else if (habit_ == Habit::blames && job.has_effects()) {
    set_thread(job.effects(), *changed.mutable_job()->mutable_thread_failed());
    changed.mutable_job()->mutable_thread_failed()->set_failure("it cannot run");
  } else if (habit_ == Habit::suspends && job.has_effects()) {
    set_thread(job.effects(), *changed.mutable_job()->mutable_suspended());
  } else if (habit_ == Habit::ends_twice && job.effects().effects_size() > 0 && job.effects().effects().rbegin()->has_end()) {
    Effect& again = *changed.mutable_job()->mutable_effects()->add_effects();
    again = *job.effects().effects().rbegin();
    again.set_sequence(again.sequence() + 1);
  } else if (habit_ == Habit::forgets && job.has_kept()) {
    changed.mutable_job()->mutable_kept()->clear_image_root();
    changed.mutable_job()->mutable_kept()->clear_determinants();
  } else if (habit_ == Habit::refuses && job.has_status()) {
    for (JobMessage::Status::Held& held : *changed.mutable_job()->mutable_status()->mutable_held()) held.set_start_state(JobMessage::GONE);
  } else {
    return {std::move(encoded)};
  }
  return {wire::encode(changed).value()};
}

}  // namespace gw::sim
