#pragma once
// A port of the switch: a network card of another namespace.

#include <optional>
#include <string>

#include "base/bytes.h"
#include "os/files/unique_fd.h"

namespace gw::network_switch {

// A TAP device named eth0 in a network namespace; whatever is sent there can be read here, and the other way round. It goes with this.
class TapPort {
 public:
  // `space`: a name as `ip netns add` knows it. Kind::not_found: there is none; Kind::internal: the system refused.
  static Result<TapPort> open(const std::string& space);

  int descriptor() const { return device_.get(); }
  // The next frame that was sent there, if there is one.
  std::optional<Bytes> read();
  // Lost if the card is down.
  void write(ByteView frame);

 private:
  explicit TapPort(os::UniqueFd device) : device_(std::move(device)) {}

  os::UniqueFd device_;
};

}  // namespace gw::network_switch
