#include "isolate/wasi/wasi.h"

#include <string>
#include <vector>

#include "isolate/files/file_tree_builder.h"

namespace gw::isolate {
namespace {

CallResult store_sizes(GuestMemory memory, const std::vector<std::string>& strings, std::uint32_t count, std::uint32_t size) {
  std::size_t bytes = 0;
  for (const std::string& text : strings) bytes += text.size() + 1;
  bool stored = memory.store(count, static_cast<std::uint32_t>(strings.size())) && memory.store(size, static_cast<std::uint32_t>(bytes));
  return stored ? Errno::success : Errno::fault;
}

// `list` gets the addresses, `text` the characters with a 0 after each string. Both were sized by the guest after store_sizes(). 64-bit
// sums: an address near 4 GiB must not wrap round to a valid one.
CallResult store_strings(GuestMemory memory, const std::vector<std::string>& strings, std::uint64_t list, std::uint64_t text) {
  for (const std::string& string : strings) {
    if (list > UINT32_MAX || text > UINT32_MAX || !memory.store(static_cast<std::uint32_t>(list), static_cast<std::uint32_t>(text)))
      return Errno::fault;
    auto room = memory.span(static_cast<std::uint32_t>(text), static_cast<std::uint32_t>(string.size() + 1));
    if (!room) return Errno::fault;
    std::memcpy(room->data(), string.c_str(), string.size() + 1);
    list += 4;
    text += string.size() + 1;
  }
  return Errno::success;
}

std::optional<Clock> clock_of(std::uint32_t id) {
  switch (id) {
    case 0:
      return Clock::realtime;
    case 1:
    case 2:  // CPU time of the process and of the thread: the time since the start, since it must mean the same after a move
    case 3:
      return Clock::monotonic;
    default:
      return std::nullopt;
  }
}

}  // namespace

Wasi::Wasi(WasiState state, World world, const Limits& limits)
    : state_(std::move(state)), world_(world), chunks_(world.chunks), max_output_(limits.output_bytes) {
  world_.clock.restore_monotonic(state_.monotonic);
  state_.files.limit_pages(limits.file_bytes / wire::kPageBytes);
}

CallResult Wasi::args_sizes_get(GuestMemory memory, std::uint32_t count, std::uint32_t size) {
  return store_sizes(memory, state_.args, count, size);
}

CallResult Wasi::args_get(GuestMemory memory, std::uint32_t list, std::uint32_t text) {
  return store_strings(memory, state_.args, list, text);
}

CallResult Wasi::environ_sizes_get(GuestMemory memory, std::uint32_t count, std::uint32_t size) {
  return store_sizes(memory, state_.env, count, size);
}

CallResult Wasi::environ_get(GuestMemory memory, std::uint32_t list, std::uint32_t text) {
  return store_strings(memory, state_.env, list, text);
}

CallResult Wasi::clock_res_get(GuestMemory memory, std::uint32_t clock, std::uint32_t out) {
  if (!clock_of(clock)) return Errno::inval;
  return memory.store(out, std::uint64_t{1}) ? Errno::success : Errno::fault;
}

CallResult Wasi::clock_time_get(GuestMemory memory, std::uint32_t clock, std::uint64_t, std::uint32_t out) {
  auto which = clock_of(clock);
  if (!which) return Errno::inval;
  if (!world_.thread.has_room(Outlet::determinants)) return park_for_room(Outlet::determinants);
  auto time = world_.clock.read(*which);
  if (!time) return host_failure(time.error());
  if (*which == Clock::realtime) state_.files.on_wall_clock(*time);
  return memory.store(out, *time) ? Errno::success : Errno::fault;
}

CallResult Wasi::random_get(GuestMemory memory, std::uint32_t address, std::uint32_t length) {
  auto bytes = memory.span(address, length);
  if (!bytes) return Errno::fault;
  state_.random.fill(*bytes);
  return Errno::success;
}

CallResult Wasi::proc_exit(GuestMemory, std::uint32_t code) { return end(Exited{code, ""}); }

// A guest that must leave the thread to others is suspended from outside; by itself it just goes on.
CallResult Wasi::sched_yield(GuestMemory) { return Errno::success; }

CallResult Wasi::checkpoint(GuestMemory) {
  if (state_.parked != ParkedCall::checkpoint) return park(ParkedCall::checkpoint);
  unpark();
  return Errno::success;
}

Wait Wasi::waiting() const {
  if (awaited_room_) return AwaitRoom{*awaited_room_};
  switch (state_.parked) {
    case ParkedCall::sleep:
      return SleepUntil{std::chrono::nanoseconds(world_.clock.host_time_of(state_.deadline)), input_ends_sleep_};
    case ParkedCall::input:
      return AwaitInput{};
    case ParkedCall::mail:
      return AwaitMail{};
    case ParkedCall::timed_mail:
      return AwaitMail{std::chrono::nanoseconds(world_.clock.host_time_of(state_.deadline))};
    case ParkedCall::checkpoint:
      return AtCheckpoint{};
    case ParkedCall::chunk:
      return AwaitChunk{awaited_};
    case ParkedCall::fork:
      return ForkRequested{};
    case ParkedCall::forked_parent:
    case ParkedCall::forked_child:
    case ParkedCall::fork_refused:
    case ParkedCall::none:
      break;
  }
  GW_ASSERT(state_.parked != ParkedCall::none);
  return AtCheckpoint{};
}

void Wasi::put_back(const WasiState& state) {
  FileTree files = std::move(state_.files);
  files.put_back(state.files);
  state_ = {.args = state.args,
            .env = state.env,
            .random = state.random,
            .monotonic = state.monotonic,
            .output_bytes = state.output_bytes,
            .input = state.input,
            .input_ended = state.input_ended,
            .parked = state.parked,
            .deadline = state.deadline,
            .sleeper = state.sleeper,
            .progress = state.progress,
            .outputs = state.outputs,
            .files = std::move(files),
            .descriptors = state.descriptors};
  world_.clock.restart(state.monotonic);
  input_ends_sleep_ = false;
  awaited_room_.reset();
  ending_.reset();
}

Status Wasi::set_start(GuestStart start) {
  state_.args = std::move(start.args);
  state_.env = std::move(start.env);
  state_.random = GuestRandom(start.random_seed, 0);
  state_.input_ended = true;
  FileTreeBuilder files(std::move(state_.files));
  Status built = files.add_inputs(start.inputs);
  if (built) built = files.add_outputs(start.outputs);
  if (built && start.standard_input) built = files.add_standard_input(*start.standard_input, state_.descriptors);
  state_.files = files.take();
  state_.outputs.insert(state_.outputs.end(), std::make_move_iterator(start.outputs.begin()), std::make_move_iterator(start.outputs.end()));
  return built;
}

const WasiState& Wasi::saved_state() {
  state_.monotonic = world_.clock.saved_monotonic();
  return state_;
}

}  // namespace gw::isolate
