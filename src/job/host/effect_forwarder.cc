#include "job/host/effect_forwarder.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "job/effects/stream_turns.h"

namespace gw::job {

EffectForwarder::EffectForwarder(const Config& config, const StreamMarks& stored) : config_(config) {
  for (const auto& [stream, sequence] : stored) {
    Queue& queue = queue_of(stream);
    queue.sent = queue.stored = sequence;
  }
}

EffectForwarder::Queue& EffectForwarder::queue_of(const Stream& stream) {
  return streams_.try_emplace(stream, Queue{.patience = config_.retry}).first->second;
}

Status EffectForwarder::add(const Effect& effect) {
  const Stream stream = wire::stream_of(effect);
  Queue& queue = queue_of(stream);
  if (!queue.unstored.empty() && effect.sequence() != queue.unstored.back().effect.sequence() + 1)
    return fail(Kind::invalid, "the worker sent effect {} of thread {} after {} of its stream '{}'", effect.sequence(), effect.thread(),
                queue.unstored.back().effect.sequence(), wire::describe(stream));
  if (queue.unstored.size() >= config_.effects || queue.bytes >= config_.bytes)
    return fail(Kind::invalid, "the worker sent effect {} of thread {}, and {} before it are not stored: its gate does not wait",
                effect.sequence(), effect.thread(), queue.unstored.size());
  // In a replay home has stored the first effects already: they are sent again, and home acknowledges them.
  if (queue.unstored.empty()) queue.sent = std::min(queue.sent, effect.sequence() - 1);
  queue.unstored.push_back({effect, effect.ByteSizeLong(), next_age_++});
  queue.bytes += queue.unstored.back().bytes;
  return ok();
}

// No gaps: the place of an effect follows from its number.
const EffectForwarder::Waiting* EffectForwarder::Queue::next() const {
  if (unstored.empty()) return nullptr;
  const std::uint64_t first = unstored.front().effect.sequence();
  const std::uint64_t place = sent + 1 - std::min(sent + 1, first);
  return place < unstored.size() ? &unstored[place] : nullptr;
}

JobMessage::Effects EffectForwarder::take(Time now, const MayLeave& may_leave) {
  JobMessage::Effects message;
  StreamTurns turns(config_.bytes_per_message, streams_.size());
  for (std::vector<StreamTurns::Head> heads;; heads.clear()) {
    for (const auto& [stream, queue] : streams_)
      if (const Waiting* next = queue.next(); next != nullptr && may_leave(next->effect)) heads.push_back({stream, next->age, next->bytes});
    const std::optional<Stream> turn = turns.take(heads);
    if (!turn) break;
    Queue& queue = streams_.at(*turn);
    const Effect& effect = queue.next()->effect;
    *message.add_effects() = effect;
    queue.sent = effect.sequence();
  }
  // An effect that waits keeps its resend time from its first attempt on: new effects do not delay it.
  for (auto& [stream, queue] : streams_)
    if (!queue.unstored.empty() && queue.resend_at <= now) queue.resend_at = now + queue.patience;
  return message;
}

// Puts all effects that are due, or soon will be, into one message: two streams that wait cost no more messages than one.
JobMessage::Effects EffectForwarder::take_again(Time now, const MayLeave& may_leave) {
  for (auto& [stream, queue] : streams_) {
    if (queue.unstored.empty() || queue.resend_at > now + queue.patience / 2) continue;
    queue.sent = queue.unstored.front().effect.sequence() - 1;
    queue.patience = std::min(2 * queue.patience, config_.longest_retry);
    queue.resend_at = now;
  }
  return take(now, may_leave);
}

void EffectForwarder::hurry(Time now) {
  for (auto& [stream, queue] : streams_)
    if (!queue.unstored.empty()) queue.resend_at = now;
}

std::optional<EffectForwarder::Stored> EffectForwarder::on_stored(Time now, const StreamMarks& marks) {
  Stored news;
  if (marks.empty()) return std::nullopt;
  for (auto& [stream, queue] : streams_) {
    const std::uint64_t sequence = GW_BUG(46) ? marks.begin()->second : wire::mark_of(marks, stream);
    if (queue.unstored.empty() || queue.unstored.front().effect.sequence() > sequence) continue;
    while (!queue.unstored.empty() && queue.unstored.front().effect.sequence() <= sequence) {
      const Effect& effect = queue.unstored.front().effect;
      news.streams[stream] = effect.sequence();
      news.ended = news.ended || effect.has_end();
      queue.bytes -= queue.unstored.front().bytes;
      queue.unstored.pop_front();
    }
    queue.sent = std::max(queue.sent, news.streams.at(stream));
    queue.stored = std::max(queue.stored, sequence);
    queue.patience = config_.retry;
    queue.resend_at = queue.unstored.empty() ? Time(0) : now + queue.patience;
  }
  if (news.streams.empty()) return std::nullopt;
  return news;
}

std::uint64_t EffectForwarder::stored(const Stream& stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? 0 : found->second.stored;
}

std::uint64_t EffectForwarder::last(const Stream& stream) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.unstored.empty()) return stored(stream);
  return found->second.unstored.back().effect.sequence();
}

bool EffectForwarder::empty() const {
  return std::ranges::all_of(streams_, [](const auto& one) { return one.second.unstored.empty(); });
}

Time EffectForwarder::due() const {
  Time due = kNever;
  for (const auto& [stream, queue] : streams_)
    if (!queue.unstored.empty()) due = std::min(due, queue.resend_at);
  return due;
}

}  // namespace gw::job
