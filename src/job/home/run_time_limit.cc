#include "job/home/run_time_limit.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/messages/streams.h"

namespace gw::job {
namespace {

constexpr Time kDefaultLimit = std::chrono::days(30);

}  // namespace

RunTimeLimit::RunTimeLimit(const Manifest& manifest) {
  constexpr Time kLongest = std::chrono::days(36500);  // far from an overflow
  const std::uint64_t limit = manifest.content().policy().limits().wall_time_ns();
  chosen_ = limit != 0;
  limit_ = chosen_ ? Time(static_cast<std::int64_t>(std::min(limit, static_cast<std::uint64_t>(kLongest.count())))) : kDefaultLimit;
}

bool RunTimeLimit::on_started(Time now, ThreadId id, HomeThread& thread) {
  if (thread.started_here != Time(0)) return false;
  count_from(now, id, thread);
  return chosen_;
}

void RunTimeLimit::count_from(Time now, ThreadId id, HomeThread& thread) {
  thread.started_here = now;
  deadlines_.set(id, now + std::max(limit_ - thread.ran, Time(0)) + kSlack);
}

void RunTimeLimit::on_left(Time now, ThreadId id, HomeThread& thread) {
  if (thread.started_here != Time(0)) thread.ran += std::max(now - thread.started_here, Time(0));
  thread.started_here = Time(0);
  deadlines_.remove(id);
}

void RunTimeLimit::recover(Time now, Time alive_at, const PeerId& self, ThreadTable& threads) {
  for (const auto& [id, found] : threads.all()) {
    HomeThread& thread = threads.at(id);
    if (thread.placed() == nullptr || thread.started_here == Time(0)) continue;
    const bool died = thread.placed()->host == self;  // with this machine
    const Time until = died ? std::max(alive_at, thread.started_here) : now;
    on_left(until, id, thread);
    count_from(now, id, thread);
  }
}

std::string RunTimeLimit::sentence() const {
  return fmt::format("it has run for its wall time of {} s", std::chrono::duration<double>(limit_).count());
}

Effect RunTimeLimit::end_of(ThreadId id, const HomeThread& thread, std::uint64_t sequence) const {
  Effect effect;
  effect.set_thread(id.value());
  effect.set_epoch(thread.epoch);
  effect.set_sequence(sequence);
  effect.mutable_end()->set_reason(Effect::End::LIMIT);
  effect.mutable_end()->set_sentence(sentence());
  wire::set_stream(effect);
  return effect;
}

bool RunTimeLimit::is_record_due(Time now) {
  if (!chosen_ || deadlines_.size() == 0 || now < record_at_) return false;
  record_at_ = now + kRecordEvery;
  return true;
}

}  // namespace gw::job
