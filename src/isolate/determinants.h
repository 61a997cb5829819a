#pragma once
// The choices that a second run of a guest would not repeat by itself: clock readings, and whether input was available.

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace gw::isolate {

// Numbered as in wire/worker.proto.
enum class DeterminantKind : std::uint8_t {
  clock = 0,         // `what` is the clock, the value nanoseconds as the guest sees them
  input_ready = 1,   // `what` is the descriptor, the value 0 (the guest went on without) or 1
  mail_ready = 3,    // `what` is 0, the value 0 (the guest went on without a message) or 1
  fork_refused = 2,  // recorded only if it was; the value is the number that the spawn would have had
};

// Asked before each choice, on the isolate's pool thread. Lent by the owner, who keeps the record (docs/design/001-effects.md).
class Determinants {
 public:
  virtual ~Determinants() = default;
  // The choice that an earlier run of the guest recorded at this point, which has to be repeated; none once the guest has caught up with
  // the record. Fails if the earlier run made another kind of choice here.
  virtual Result<std::optional<std::uint64_t>> recorded(DeterminantKind kind, std::uint32_t what) = 0;
  // The guest gets `value`: the recorded choice is used up, or there is a new one to record. Never waits: a call that may make
  // choices asks ThreadHost::has_room() before.
  virtual Status given(DeterminantKind kind, std::uint32_t what, std::uint64_t value) = 0;
};

// Keeps no record: for guests that are never replayed.
class LiveDeterminants final : public Determinants {
 public:
  Result<std::optional<std::uint64_t>> recorded(DeterminantKind, std::uint32_t) override { return std::optional<std::uint64_t>(); }
  Status given(DeterminantKind, std::uint32_t, std::uint64_t) override { return ok(); }
};

}  // namespace gw::isolate
