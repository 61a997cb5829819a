#pragma once
// Messages out of the frames they were cut into.

#include <array>
#include <optional>

#include "transport/connection/frame.h"

namespace gw::transport {

struct Message {
  FrameKind kind = FrameKind::message;  // message, request or answer
  Lane lane = Lane::control;
  std::uint32_t stream = 0;
  Bytes bytes;
};

// Holds at most one unfinished message per lane, and of each at most kMaxMessageBytes. Pure.
class MessageAssembler {
 public:
  // The message that this frame completes, if it does. Kind::invalid: the sender mixed two messages or sent too long a one.
  // REQUIRES: the frame comes from a FrameDecoder and is of kind message, request or answer.
  Result<std::optional<Message>> add(const Frame& frame);

  bool unfinished(Lane lane) const { return parts_[static_cast<std::size_t>(lane)].has_value(); }

 private:
  std::array<std::optional<Message>, kLanes> parts_;
};

}  // namespace gw::transport
