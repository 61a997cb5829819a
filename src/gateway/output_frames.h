#pragma once
// The frames of the output of a job, as the API sends them (wire/job_spec.proto, OutputFrame).

#include <functional>
#include <string>
#include <string_view>

#include "node/control.h"

namespace gw::gateway {

// `array`: how many tasks the array of the job has.
std::string encode_frame(const node::OutputFrame& frame, std::uint32_t array);

// Puts frames together that arrive in pieces. Limit: kMaxFrame bytes for one. A value without threads.
class FrameReader {
 public:
  static constexpr std::size_t kMaxFrame = 32u << 20;

  // Calls `take` for each frame that is whole. Kind::corrupt: the bytes are no frames.
  Status add(std::string_view bytes, const std::function<void(const wire::pb::OutputFrame&)>& take);
  // All bytes were part of whole frames.
  bool complete() const { return pending_.empty(); }

 private:
  std::string pending_;
};

}  // namespace gw::gateway
