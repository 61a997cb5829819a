#pragma once
// The order in which effects of several streams leave together.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "wire/messages/streams.h"

namespace gw::job {

// Chooses the effects of one batch: at most `max_bytes`, or one effect. Older effects come first, but no stream takes more than its share
// while another one waits: a stream with much to send does not hold up the others, and people usually see things in the order in which they
// happened.
class StreamTurns {
 public:
  // The next effect of a stream.
  struct Head {
    wire::Stream stream;
    std::uint64_t age;  // smaller is older
    std::size_t bytes;
  };

  StreamTurns(std::size_t max_bytes, std::size_t streams) : max_bytes_(max_bytes), share_(max_bytes / std::max<std::size_t>(streams, 1)) {}

  // The stream whose head goes next, and now counts as gone. None: there is no head, or the batch is full.
  std::optional<wire::Stream> take(std::span<const Head> heads) {
    const auto before = [this](const Head& a, const Head& b) {
      const bool a_waits = used_[a.stream] >= share_, b_waits = used_[b.stream] >= share_;
      return a_waits != b_waits ? a_waits < b_waits : a.age < b.age;
    };
    const auto next = std::ranges::min_element(heads, before);
    if (next == heads.end() || (bytes_ > 0 && bytes_ + next->bytes > max_bytes_)) return std::nullopt;
    bytes_ += next->bytes;
    used_[next->stream] += next->bytes;
    return next->stream;
  }

 private:
  const std::size_t max_bytes_;
  const std::size_t share_;
  std::size_t bytes_ = 0;
  std::map<wire::Stream, std::size_t> used_;
};

}  // namespace gw::job
