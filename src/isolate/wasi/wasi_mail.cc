// Messages to and from other threads of the job (docs/guest-abi.md, "Messages").

#include <algorithm>
#include <array>

#include "isolate/wasi/wasi.h"

namespace gw::isolate {
namespace {

constexpr std::uint64_t kEndless = UINT64_MAX;
constexpr std::uint32_t kHeaderBytes = 32;
constexpr std::uint32_t kMessage = 0, kNotice = 1;  // kinds of items

}  // namespace

CallResult Wasi::send(GuestMemory memory, std::uint64_t to, std::uint64_t tag, std::uint32_t address, std::uint32_t length) {
  const auto bytes = memory.span(address, length);
  if (!bytes) return Errno::fault;
  if (!world_.thread.has_mail()) return Errno::notsup;
  if (to == 0 || length > kMaxMessageBytes) return Errno::inval;
  if (!world_.thread.has_room(Outlet::mail)) return park_for_room(Outlet::mail);
  world_.thread.send(to, tag, *bytes);
  return Errno::success;
}

CallResult Wasi::watch(GuestMemory, std::uint64_t thread) {
  if (!world_.thread.has_mail()) return Errno::notsup;
  if (thread == 0) return Errno::inval;
  if (!world_.thread.has_room(Outlet::mail)) return park_for_room(Outlet::mail);
  world_.thread.watch(thread);
  return Errno::success;
}

// On the guest's monotonic clock; kept while the call is parked.
Status Wasi::set_mail_deadline(std::uint64_t timeout) {
  GW_TRY(const std::uint64_t now, world_.clock.read(Clock::monotonic));
  state_.deadline = now > UINT64_MAX - timeout ? UINT64_MAX : now + timeout;
  return ok();
}

// The next item is the same in every run. Whether a call with a time-out waits long enough for it is a choice, which a replay repeats.
CallResult Wasi::receive(GuestMemory memory, std::uint32_t header, std::uint32_t address, std::uint32_t capacity, std::uint64_t timeout) {
  const auto room = memory.span(address, capacity);
  if (!room || !memory.span(header, kHeaderBytes)) return Errno::fault;
  if (!world_.thread.has_mail()) return Errno::notsup;
  const bool timed = timeout != kEndless;
  if (timed && state_.parked == ParkedCall::none) {
    if (!world_.thread.has_room(Outlet::determinants)) return park_for_room(Outlet::determinants);
    if (timeout > 0)
      if (const Status set = set_mail_deadline(timeout); !set) return host_failure(set.error());
  }
  std::optional<std::uint64_t> recorded;
  if (timed) {
    const auto earlier = world_.determinants.recorded(DeterminantKind::mail_ready, 0);
    if (!earlier) return host_failure(earlier.error());
    recorded = *earlier;
  }
  const bool without = recorded && *recorded == 0;
  const MailItem* item = without ? nullptr : world_.thread.mail();
  if (item == nullptr && !without) {
    if (!timed || recorded) return park(ParkedCall::mail);
    if (timeout > 0 && world_.clock.monotonic_now() < state_.deadline) return park(ParkedCall::timed_mail);
  }
  const bool waited = state_.parked != ParkedCall::none;
  unpark();
  if (timed)
    if (const Status given = world_.determinants.given(DeterminantKind::mail_ready, 0, item != nullptr ? 1 : 0); !given)
      return host_failure(given.error());
  if (item != nullptr) return give_mail(memory, header, *room, *item);
  if (waited) world_.thread.stop_waiting_for_mail();
  return Errno::timedout;
}

// An item that does not fit stays where it is: the guest calls again with more room.
CallResult Wasi::give_mail(GuestMemory memory, std::uint32_t header, std::span<std::uint8_t> room, const MailItem& item) {
  const auto size = static_cast<std::uint32_t>(item.bytes.size());
  const std::uint32_t kind = item.is_notice ? kNotice : kMessage;
  GW_ASSERT(memory.store(header, item.from) && memory.store(header + 8, item.tag) && memory.store(header + 16, size));
  GW_ASSERT(memory.store(header + 20, kind) && memory.store(header + 24, item.exit_code) && memory.store(header + 28, std::uint32_t{0}));
  if (size > room.size()) return Errno::nobufs;
  std::ranges::copy(as_bytes(item.bytes), room.begin());
  world_.thread.take_mail();
  return Errno::success;
}

}  // namespace gw::isolate
