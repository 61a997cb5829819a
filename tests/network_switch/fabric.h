#pragma once
// The medium between the ports of the switch: which frame arrives where, and when.

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/rng.h"

namespace gw::network_switch {

using Time = std::chrono::steady_clock::time_point;

// The properties of the path from one port to another.
struct Link {
  std::chrono::microseconds delay{0};
  std::chrono::microseconds jitter{0};  // up to so much more, evenly
  double loss = 0;                      // of frames, 0 to 1
};

// A learning switch whose ports are far apart: each frame takes as long as the link between its two ports says, or is lost there. Frames
// between the same two ports do not overtake each other. Pure.
//
// Limits: kMaxUnderWay frames; more are lost.
class Fabric {
 public:
  static constexpr std::size_t kMaxUnderWay = 1u << 16;
  using Port = std::size_t;

  explicit Fabric(Rng rng) : rng_(rng) {}

  Port add_port();
  std::size_t ports() const { return ports_; }
  void set(Port from, Port to, const Link& link) { links_[{from, to}] = link; }

  void on_frame(Time now, Port from, Bytes frame);

  struct Arrival {
    Port to;
    std::shared_ptr<const Bytes> frame;  // shared by all ports a broadcast goes to
  };
  // Returns the next frame that has arrived by `now`.
  std::optional<Arrival> take(Time now);
  Time next_arrival() const { return under_way_.empty() ? Time::max() : under_way_.top().at; }

 private:
  using Card = std::array<std::uint8_t, 6>;  // its address
  struct UnderWay {
    Time at;
    std::uint64_t order;
    Arrival arrival;
    bool operator>(const UnderWay& other) const { return std::pair(at, order) > std::pair(other.at, other.order); }
  };

  void carry(Time now, Port from, Port to, const std::shared_ptr<const Bytes>& frame);

  Rng rng_;
  std::size_t ports_ = 0;
  std::map<std::pair<Port, Port>, Link> links_;
  std::map<std::pair<Port, Port>, Time> last_arrival_;
  std::map<Card, Port> where_;
  std::uint64_t next_order_ = 0;
  std::priority_queue<UnderWay, std::vector<UnderWay>, std::greater<>> under_way_;
};

}  // namespace gw::network_switch
