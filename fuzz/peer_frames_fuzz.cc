// Bytes as a hostile peer might send them inside TLS. The first byte says in what pieces they come, which must make no difference.

#include <algorithm>
#include <vector>

#include "transport/connection/message_assembler.h"

namespace {

using namespace gw;
using namespace gw::transport;

struct Outcome {
  std::vector<Bytes> messages;
  Bytes frames;  // as they would be sent again
  std::string complaint;

  bool operator==(const Outcome&) const = default;
};

// Takes every frame that is there. False: the connection would be over.
bool drain(FrameDecoder& decoder, MessageAssembler& assembler, Outcome& outcome) {
  while (true) {
    auto frame = decoder.next();
    if (!frame) return outcome.complaint = frame.error().detail, false;
    if (!*frame) return true;
    append_frame(outcome.frames, **frame);
    FrameKind kind = (*frame)->kind;
    if (kind != FrameKind::message && kind != FrameKind::request && kind != FrameKind::answer) continue;
    auto message = assembler.add(**frame);
    if (!message) return outcome.complaint = message.error().detail, false;
    if (!*message) continue;
    GW_ASSERT((*message)->bytes.size() <= kMaxMessageBytes);
    outcome.messages.push_back((*message)->bytes);
  }
}

Outcome receive(ByteView bytes, std::size_t piece) {
  FrameDecoder decoder;
  MessageAssembler assembler;
  Outcome outcome;
  while (!bytes.empty()) {
    auto space = decoder.space();
    std::size_t count = std::min({piece, bytes.size(), space.size()});
    std::copy_n(bytes.begin(), count, space.begin());
    decoder.filled(count);
    bytes = bytes.subspan(count);
    if (!drain(decoder, assembler, outcome)) break;
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  ByteView bytes(data + 1, size - 1);
  Outcome whole = receive(bytes, bytes.size());
  GW_ASSERT(receive(bytes, std::size_t{data[0]} + 1) == whole);
  GW_ASSERT(whole.frames.size() <= bytes.size() && std::equal(whole.frames.begin(), whole.frames.end(), bytes.begin()));
  return 0;
}
