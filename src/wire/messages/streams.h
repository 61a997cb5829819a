#pragma once
// The streams of a thread's effects: their names, and which effect belongs to which (docs/design/001-effects.md).

#include <compare>
#include <cstdint>
#include <map>

#include "base/result.h"
#include "wire/worker.pb.h"

namespace gw::wire {

// Numbered as in worker.proto.
enum class StreamKind : std::uint8_t {
  home = 1,  // what home stores for people
  log = 2,   // the job's log: which threads there are
  mail = 3,  // messages to threads of the job, which home puts into their mailboxes
};

// A numbered sequence of effects for one receiver.
struct Stream {
  StreamKind kind = StreamKind::home;
  std::uint64_t id = 0;  // of the receiver, where the kind has several

  auto operator<=>(const Stream&) const = default;
};
inline constexpr Stream kHomeStream{.kind = StreamKind::home};
inline constexpr Stream kLogStream{.kind = StreamKind::log};
inline constexpr Stream kMailStream{.kind = StreamKind::mail};

// Limits on the streams of one thread, and on the effects of one stream: arithmetic on sequence numbers below them cannot overflow.
inline constexpr int kMaxStreams = 256;
inline constexpr std::uint64_t kMaxSequence = std::uint64_t{1} << 62;

// The stream that an effect belongs to, by what it is: nothing else decides. REQUIRES: it has a kind.
StreamKind stream_kind_of(pb::Effect::KindCase kind);
Stream stream_of(const pb::Effect& effect);

void write(const Stream& stream, pb::Stream& to);
// Kind::invalid: there is no such stream.
Result<Stream> read(const pb::Stream& stream);
// Whether the effect says the stream it belongs to; and makes it say so. REQUIRES: it has a kind.
bool is_in_its_stream(const pb::Effect& effect);
void set_stream(pb::Effect& effect);

// How far streams have got: the last number of each. 0: of those that are not there.
using StreamMarks = std::map<Stream, std::uint64_t>;
inline std::uint64_t mark_of(const StreamMarks& marks, const Stream& stream) {
  const auto found = marks.find(stream);
  return found == marks.end() ? 0 : found->second;
}

using MarkList = google::protobuf::RepeatedPtrField<pb::StreamMark>;
void write(const StreamMarks& marks, MarkList& to);
// Kind::invalid: too many, one of no stream, or two of the same.
Result<StreamMarks> read(const MarkList& list);
// REQUIRES: read() takes it, as it takes every list in a frame or message that was decoded.
StreamMarks marks_of(const MarkList& list);

// "home", "log", "mail": for messages.
std::string describe(const Stream& stream);

}  // namespace gw::wire
