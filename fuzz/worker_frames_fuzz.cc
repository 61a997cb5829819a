// Frames between worker and parent: whatever comes in, it is refused with a sentence, or what was understood is understood again.

#include <cstdint>
#include <cstdlib>

#include "wire/messages/worker_frames.h"

namespace {

using gw::ByteView;

template <class Frame>
void check(const gw::Result<Frame>& frame, gw::Result<Frame> (*decode)(ByteView, std::size_t), std::size_t descriptors) {
  if (!frame) {
    if (frame.error().detail.empty()) std::abort();
    return;
  }
  // The second form is the one we write ourselves: decoding it must change nothing any more.
  auto bytes = gw::wire::encode(*frame);
  if (!bytes) return;  // rarely, our form of an unusual encoding is longer than a frame may be
  auto again = decode(*bytes, descriptors);
  if (!again || *gw::wire::encode(*again) != *bytes) std::abort();
}

}  // namespace

// The first byte is the number of descriptors beside the frame.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t descriptors = data[0] % 6;
  const ByteView payload(data + 1, size - 1);
  check(gw::wire::decode_to_worker(payload, descriptors), gw::wire::decode_to_worker, descriptors);
  check(gw::wire::decode_from_worker(payload, descriptors), gw::wire::decode_from_worker, descriptors);
  if (auto config = gw::wire::decode_thread_config(payload); !config && config.error().detail.empty()) std::abort();
  return 0;
}
