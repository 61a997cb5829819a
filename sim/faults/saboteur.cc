#include "faults/saboteur.h"

#include <array>

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

}  // namespace

Saboteur::Saboteur(Rng rng, Part part) : habit_(Habit::idles) {
  if (part == Part::idler) return;
  constexpr std::array kOfKeepers{Habit::never_keeps, Habit::forgets};
  constexpr std::array kOfHosts{Habit::idles, Habit::blames, Habit::refuses, Habit::suspends, Habit::ends_twice};
  const std::size_t drawn = rng.below(part == Part::keeper ? kOfKeepers.size() : kOfKeepers.size() + kOfHosts.size());
  habit_ = drawn < kOfKeepers.size() ? kOfKeepers.at(drawn) : kOfHosts.at(drawn - kOfKeepers.size());
}

std::vector<Bytes> Saboteur::replace(const PeerMessage& message, Bytes encoded) const {
  const JobMessage& job = message.job();
  if (habit_ == Habit::idles && (job.has_effects() || job.task_report().number() > 0)) return {};
  if (habit_ == Habit::never_keeps && job.has_kept()) return {};
  PeerMessage changed = message;
  if (habit_ == Habit::idles && job.has_status()) {
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
    changed.mutable_job()->mutable_kept()->clear_parts();
    changed.mutable_job()->mutable_kept()->clear_determinants();
  } else if (habit_ == Habit::refuses && job.has_status()) {
    for (JobMessage::Status::Held& held : *changed.mutable_job()->mutable_status()->mutable_held()) held.set_start_state(JobMessage::GONE);
  } else {
    return {std::move(encoded)};
  }
  return {wire::encode(changed).value()};
}

}  // namespace gw::sim
