// poll_oneoff: sleeping, and waiting for the standard streams.

#include <array>
#include <vector>

#include "isolate/wasi.h"

namespace gw::isolate {
namespace {

constexpr std::uint32_t kMaxSubscriptions = 1024;
constexpr std::uint32_t kSubscriptionBytes = 48, kEventBytes = 32;
constexpr std::uint16_t kAbsoluteTime = 1;

enum class EventType : std::uint8_t { clock = 0, fd_read = 1, fd_write = 2 };

}  // namespace

struct Wasi::Subscription {
  std::uint64_t userdata;
  EventType type;
  std::uint32_t target;  // clock or descriptor
  std::uint64_t timeout;
  bool absolute;

  // REQUIRES: all 48 bytes are in the memory.
  static Subscription load(GuestMemory memory, std::uint32_t address) {
    return Subscription{
        .userdata = memory.get<std::uint64_t>(address),
        .type = static_cast<EventType>(memory.get<std::uint8_t>(address + 8)),
        .target = memory.get<std::uint32_t>(address + 16),
        .timeout = memory.get<std::uint64_t>(address + 24),
        .absolute = (memory.get<std::uint16_t>(address + 40) & kAbsoluteTime) != 0,
    };
  }
};

// Appends to the guest's array of events. REQUIRES: room for one per subscription.
class Wasi::EventWriter {
 public:
  EventWriter(GuestMemory memory, std::uint32_t address) : memory_(memory), address_(address) {}

  void add(const Subscription& subscription, Errno error, std::uint64_t readable_bytes) {
    std::array<std::uint8_t, kEventBytes> bytes{};
    std::memcpy(bytes.data(), &subscription.userdata, 8);
    std::memcpy(bytes.data() + 8, &error, 2);
    bytes[10] = static_cast<std::uint8_t>(subscription.type);
    std::memcpy(bytes.data() + 16, &readable_bytes, 8);
    GW_ASSERT(memory_.store(address_ + count_ * kEventBytes, bytes));
    count_++;
  }
  std::uint32_t count() const { return count_; }

 private:
  GuestMemory memory_;
  std::uint32_t address_;
  std::uint32_t count_ = 0;
};

// Ready streams, and subscriptions that can never be.
void Wasi::add_stream_event(const Subscription& subscription, EventWriter& events) {
  bool reads = subscription.type == EventType::fd_read;
  if (!is_open(subscription.target) || reads != (subscription.target == 0)) return events.add(subscription, Errno::badf, 0);
  if (!reads) return events.add(subscription, Errno::success, 0);
  switch (look_for_input()) {
    case Input::ready:
      return events.add(subscription, Errno::success, state_.input.size());
    case Input::ended:
      return events.add(subscription, Errno::success, 0);
    case Input::failed:
      return events.add(subscription, Errno::io, 0);
    case Input::not_yet:
      return;
  }
}

// On the guest's monotonic clock.
Result<std::uint64_t> Wasi::sleep_deadline(const Subscription& subscription) {
  auto after = [](std::uint64_t now, std::uint64_t wait) { return now > UINT64_MAX - wait ? UINT64_MAX : now + wait; };
  GW_TRY(std::uint64_t now, clock_.read(Clock::monotonic));
  if (!subscription.absolute) return after(now, subscription.timeout);
  if (static_cast<Clock>(subscription.target) == Clock::monotonic) return subscription.timeout;
  GW_TRY(std::uint64_t realtime, clock_.read(Clock::realtime));
  return after(now, subscription.timeout > realtime ? subscription.timeout - realtime : 0);
}

// Chooses the subscription whose time comes first. The choice is kept while the call is parked, because a relative time means something
// else when the call is repeated.
Status Wasi::choose_sleeper(std::span<const Subscription> list) {
  std::optional<std::uint64_t> first;
  for (std::uint32_t i = 0; i < list.size(); i++) {
    if (list[i].type != EventType::clock) continue;
    GW_TRY(std::uint64_t deadline, sleep_deadline(list[i]));
    if (first && deadline >= *first) continue;
    first = state_.deadline = deadline;
    state_.sleeper = i;
  }
  return ok();
}

CallResult Wasi::poll_oneoff(GuestMemory memory, std::uint32_t in, std::uint32_t out, std::uint32_t count, std::uint32_t stored) {
  if (count == 0 || count > kMaxSubscriptions) return Errno::inval;
  if (!memory.span(in, count * kSubscriptionBytes) || !memory.span(out, count * kEventBytes) || !memory.span(stored, 4))
    return Errno::fault;
  std::vector<Subscription> list;
  list.reserve(count);
  for (std::uint32_t i = 0; i < count; i++) list.push_back(Subscription::load(memory, in + i * kSubscriptionBytes));

  EventWriter events(memory, out);
  bool has_clock = false;
  input_ends_sleep_ = false;
  for (const Subscription& subscription : list) {
    if (subscription.type > EventType::fd_write) return Errno::inval;
    if (subscription.type == EventType::clock) {
      if (subscription.target > static_cast<std::uint32_t>(Clock::monotonic)) return Errno::notsup;
      has_clock = true;
    } else {
      input_ends_sleep_ |= subscription.type == EventType::fd_read;
      add_stream_event(subscription, events);
    }
  }
  if (events.count() == 0) {
    if (!has_clock) return park(ParkedCall::input);
    CallResult slept = sleep(list, events);
    if (slept.after != After::proceed || slept.code != Errno::success) return slept;
  }
  unpark();
  return memory.store(stored, events.count()) ? Errno::success : Errno::fault;
}

CallResult Wasi::sleep(std::span<const Subscription> list, EventWriter& events) {
  if (state_.parked != ParkedCall::sleep) {
    if (Status chosen = choose_sleeper(list); !chosen) return host_failure(chosen.error());
  }
  if (state_.sleeper >= list.size()) return Errno::inval;  // only an image made by hand gets here
  auto now = clock_.read(Clock::monotonic);
  if (!now) return host_failure(now.error());
  if (*now < state_.deadline) return park(ParkedCall::sleep);
  events.add(list[state_.sleeper], Errno::success, 0);
  return Errno::success;
}

}  // namespace gw::isolate
