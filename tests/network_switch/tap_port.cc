#include "tap_port.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/files/io.h"

namespace gw::network_switch {
namespace {

constexpr std::size_t kMaxFrame = 65536;

// Makes the card in the namespace this thread is in.
Result<os::UniqueFd> make_card() {
  os::UniqueFd device(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!device) return fail(Kind::internal, "cannot open /dev/net/tun: {}", os::reason(errno));
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strcpy(request.ifr_name, "eth0");
  if (::ioctl(device.get(), TUNSETIFF, &request) != 0) return fail(Kind::internal, "cannot make a network card: {}", os::reason(errno));
  return device;
}

}  // namespace

Result<TapPort> TapPort::open(const std::string& space) {
  const os::UniqueFd here(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  const os::UniqueFd there(::open(("/run/netns/" + space).c_str(), O_RDONLY | O_CLOEXEC));
  if (!there) return fail(Kind::not_found, "there is no network namespace '{}': {}", space, os::reason(errno));
  if (::setns(there.get(), CLONE_NEWNET) != 0) return fail(Kind::internal, "cannot enter namespace '{}': {}", space, os::reason(errno));
  auto device = make_card();
  GW_ASSERT(::setns(here.get(), CLONE_NEWNET) == 0);
  if (!device) return device.error();
  return TapPort(*std::move(device));
}

std::optional<Bytes> TapPort::read() {
  Bytes frame(kMaxFrame);
  const ssize_t size = ::read(device_.get(), frame.data(), frame.size());
  if (size <= 0) return std::nullopt;
  frame.resize(static_cast<std::size_t>(size));
  frame.shrink_to_fit();
  return frame;
}

void TapPort::write(ByteView frame) {
  // A card that is down or full loses frames, as cards do.
  [[maybe_unused]] const ssize_t written = ::write(device_.get(), frame.data(), frame.size());
}

}  // namespace gw::network_switch
