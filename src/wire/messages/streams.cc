#include "wire/messages/streams.h"

#include "base/check.h"
#include "wire/messages/rules.h"

namespace gw::wire {

StreamKind stream_kind_of(pb::Effect::KindCase kind) {
  switch (kind) {
    case pb::Effect::kOutput:
    case pb::Effect::kReport:
    case pb::Effect::kFile:
    case pb::Effect::kEnd:
      return StreamKind::home;
    case pb::Effect::kSpawn:
      return StreamKind::log;
    case pb::Effect::kMessage:
    case pb::Effect::kWatch:
      return StreamKind::mail;
    case pb::Effect::KIND_NOT_SET:
      break;
  }
  GW_ASSERT(false);
  return StreamKind::home;
}

Stream stream_of(const pb::Effect& effect) { return {.kind = stream_kind_of(effect.kind_case())}; }

void write(const Stream& stream, pb::Stream& to) {
  to.set_kind(static_cast<pb::Stream::Kind>(stream.kind));
  to.set_id(stream.id);
}

Result<Stream> read(const pb::Stream& stream) {
  const bool known = stream.kind() == pb::Stream::HOME || stream.kind() == pb::Stream::LOG || stream.kind() == pb::Stream::MAIL;
  GW_TRY_VOID(require(known, "the kind of a stream is not known"));
  GW_TRY_VOID(require(stream.id() == 0, "there is one stream to home, one log and one of mail"));
  return Stream{.kind = static_cast<StreamKind>(stream.kind()), .id = stream.id()};
}

bool is_in_its_stream(const pb::Effect& effect) {
  const auto stream = read(effect.stream());
  return stream && *stream == stream_of(effect);
}

void set_stream(pb::Effect& effect) { write(stream_of(effect), *effect.mutable_stream()); }

void write(const StreamMarks& marks, MarkList& to) {
  for (const auto& [stream, sequence] : marks) {
    pb::StreamMark& mark = *to.Add();
    write(stream, *mark.mutable_stream());
    mark.set_sequence(sequence);
  }
}

Result<StreamMarks> read(const MarkList& list) {
  GW_TRY_VOID(require(list.size() <= kMaxStreams, "a thread has at most 256 streams"));
  StreamMarks marks;
  for (const pb::StreamMark& mark : list) {
    GW_TRY(const Stream stream, read(mark.stream()));
    GW_TRY_VOID(require(mark.sequence() <= kMaxSequence, "a stream has at most 2^62 effects"));
    GW_TRY_VOID(require(marks.emplace(stream, mark.sequence()).second, "each stream is named once"));
  }
  return marks;
}

StreamMarks marks_of(const MarkList& list) { return read(list).value(); }

std::string describe(const Stream& stream) {
  switch (stream.kind) {
    case StreamKind::home:
      return "home";
    case StreamKind::log:
      return "log";
    case StreamKind::mail:
      break;
  }
  return "mail";
}

}  // namespace gw::wire
