// poll_oneoff: sleeping, and waiting for the standard streams.

#include <array>
#include <vector>

#include "isolate/wasi/wasi.h"

namespace gw::isolate {
namespace {

constexpr std::uint32_t kMaxSubscriptions = 1024;  // each may read two clocks: below job::kMaxDeterminantsPerCall
constexpr std::uint32_t kSubscriptionBytes = 48, kEventBytes = 32;
constexpr std::uint16_t kAbsoluteTime = 1;
constexpr std::uint32_t kStdin = 0;

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

// True for a subscription that waits for standard input. Others get their event at once: output and files are always ready, and what can
// never be is an error.
bool Wasi::add_certain_event(const Subscription& subscription, EventWriter& events) {
  bool reads = subscription.type == EventType::fd_read;
  auto found = descriptor(subscription.target, reads ? right::kRead : right::kWrite);
  if (!found) {
    events.add(subscription, found.error(), 0);
    return false;
  }
  const Descriptor& descriptor = **found;
  if (reads && descriptor.kind == Descriptor::Kind::input) return true;
  std::uint64_t size = descriptor.kind == Descriptor::Kind::node ? state_.files.node(descriptor.node).size() : 0;
  events.add(subscription, Errno::success, reads && size > descriptor.offset ? size - descriptor.offset : 0);
  return false;
}

// On the guest's monotonic clock.
Result<std::uint64_t> Wasi::sleep_deadline(const Subscription& subscription) {
  auto after = [](std::uint64_t now, std::uint64_t wait) { return now > UINT64_MAX - wait ? UINT64_MAX : now + wait; };
  GW_TRY(std::uint64_t now, world_.clock.read(Clock::monotonic));
  if (!subscription.absolute) return after(now, subscription.timeout);
  if (static_cast<Clock>(subscription.target) == Clock::monotonic) return subscription.timeout;
  GW_TRY(std::uint64_t realtime, world_.clock.read(Clock::realtime));
  return after(now, subscription.timeout > realtime ? subscription.timeout - realtime : 0);
}

// Chooses the subscription whose time comes first. The choice is kept while the call is parked, because a relative time means something
// else when the call is repeated.
Status Wasi::choose_sleeper(std::span<const Subscription> list) {
  std::optional<std::uint64_t> first;
  for (std::uint32_t i = 0; i < list.size(); i++) {
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
  if (state_.parked == ParkedCall::none && !world_.thread.has_room(Outlet::determinants)) return park_for_room(Outlet::determinants);
  EventWriter events(memory, out);
  std::vector<Subscription> clocks, inputs;
  for (std::uint32_t i = 0; i < count; i++) {
    Subscription subscription = Subscription::load(memory, in + i * kSubscriptionBytes);
    if (subscription.type > EventType::fd_write) return Errno::inval;
    if (subscription.type == EventType::clock) {
      if (subscription.target > static_cast<std::uint32_t>(Clock::monotonic)) return Errno::notsup;
      clocks.push_back(subscription);
    } else if (add_certain_event(subscription, events)) {
      inputs.push_back(subscription);
    }
  }
  input_ends_sleep_ = !inputs.empty();
  CallResult waited = wait_for_events(clocks, inputs, events);
  if (waited.after != After::proceed || waited.code != Errno::success) return waited;
  unpark();
  return memory.store(stored, events.count()) ? Errno::success : Errno::fault;
}

// Adds what is not certain: input and the end of a sleep. The clock is read before input is looked at, so that a replay asks in the same
// order whatever has come by then.
CallResult Wasi::wait_for_events(std::span<const Subscription> clocks, std::span<const Subscription> inputs, EventWriter& events) {
  bool may_sleep = events.count() == 0 && !clocks.empty();
  if (may_sleep && state_.parked == ParkedCall::none) {
    if (Status chosen = choose_sleeper(clocks); !chosen) return host_failure(chosen.error());
  }
  if (may_sleep && state_.sleeper >= clocks.size()) return Errno::inval;  // only an image made by hand gets here
  if (!inputs.empty()) {
    auto ready = input_ready(inputs, events, events.count() > 0 || may_sleep ? WithoutInput::ends : WithoutInput::waits);
    if (!ready) return host_failure(ready.error());
    if (*ready == Ready::later) return park(ParkedCall::input);
    if (*ready == Ready::never && events.count() == 0) events.add(clocks[state_.sleeper], Errno::success, 0);
  }
  if (events.count() > 0) return Errno::success;
  if (world_.clock.monotonic_now() < state_.deadline) return park(ParkedCall::sleep);
  if (!inputs.empty()) {
    if (auto chosen = choose(Ready::never); !chosen) return host_failure(chosen.error());
  }
  events.add(clocks[state_.sleeper], Errno::success, 0);
  return Errno::success;
}

Result<Wasi::Ready> Wasi::choose(Ready ready) {
  GW_TRY_VOID(world_.determinants.given(DeterminantKind::input_ready, kStdin, ready == Ready::now ? 1 : 0));
  return ready;
}

// Whether the call ends with input is a choice, unless it has nothing else to end with.
Result<Wasi::Ready> Wasi::input_ready(std::span<const Subscription> inputs, EventWriter& events, WithoutInput without_input) {
  bool others = events.count() > 0;
  bool choice = without_input == WithoutInput::ends;
  std::optional<std::uint64_t> recorded;
  if (choice) {
    GW_TRY(recorded, world_.determinants.recorded(DeterminantKind::input_ready, kStdin));
    if (recorded && *recorded == 0) return choose(Ready::never);
  }
  Input input = look_for_input();
  if (input == Input::not_yet) {
    if (!choice || recorded) return Ready::later;
    return others ? choose(Ready::never) : Ready::not_yet;
  }
  if (choice) GW_TRY_VOID(choose(Ready::now));
  for (const Subscription& subscription : inputs) {
    events.add(subscription, input == Input::failed ? Errno::io : Errno::success, state_.input.size());
  }
  return Ready::now;
}

}  // namespace gw::isolate
