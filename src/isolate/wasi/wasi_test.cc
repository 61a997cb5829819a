#include "isolate/wasi/wasi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>

#include "isolate/wasi/host_imports.h"

namespace gw::isolate {
namespace {

class FakeClock final : public HostClock {
 public:
  std::uint64_t now(Clock clock) override { return clock == Clock::realtime ? 1'000'000 : monotonic; }
  std::uint64_t monotonic = 500;
};

// Gives its parts one by one; an empty one stands for "not yet".
class PartedInput final : public InputSource {
 public:
  Result<Read> read(std::span<std::uint8_t> buffer) override {
    if (parts.empty()) return Read{State::end, 0};
    std::string part = parts.front();
    parts.pop_front();
    if (part.empty()) return Read{State::not_yet, 0};
    std::copy(part.begin(), part.end(), buffer.begin());
    return Read{State::data, part.size()};
  }
  void wait(std::chrono::milliseconds) override {}

  std::deque<std::string> parts;
};

// Gives what it has been given, then notes what is new.
class Tape final : public Determinants {
 public:
  using Choice = std::tuple<DeterminantKind, std::uint32_t, std::uint64_t>;

  Result<std::optional<std::uint64_t>> recorded(DeterminantKind kind, std::uint32_t what) override {
    if (before.empty()) return std::optional<std::uint64_t>();
    auto [old_kind, old_what, value] = before.front();
    if (old_kind != kind || old_what != what) return fail(Kind::guest_fault, "something else was asked here");
    return std::optional(value);
  }
  Status given(DeterminantKind kind, std::uint32_t what, std::uint64_t value) override {
    if (before.empty()) {
      noted.emplace_back(kind, what, value);
    } else {
      EXPECT_EQ(before.front(), Choice(kind, what, value));
      before.pop_front();
    }
    return ok();
  }

  std::deque<Choice> before;
  std::vector<Choice> noted;
};

// The queues of this host are full where a test says so.
class CrowdedThread final : public ThreadHost {
 public:
  std::uint64_t id() const override { return 1; }
  bool has_room(Outlet outlet) const override { return outlet != full; }
  Status report(ByteView) override { return ok(); }

  std::optional<Outlet> full;
};

class WasiTest : public ::testing::Test {
 protected:
  Wasi& start(WasiState state = {}) {
    gate.emplace(clock, determinants);
    return wasi.emplace(std::move(state), Wasi::World{input, output, errors, *gate, determinants, chunks, thread}, limits);
  }

  void put_string(std::uint32_t address, std::string_view text) { std::copy(text.begin(), text.end(), bytes.begin() + address); }
  std::string get_string(std::uint32_t address, std::size_t size) {
    return {bytes.begin() + address, bytes.begin() + address + static_cast<long>(size)};
  }
  template <class T>
  void put(std::uint32_t address, T value) {
    ASSERT_TRUE(memory.store(address, value));
  }
  std::uint32_t get(std::uint32_t address) { return *memory.load<std::uint32_t>(address); }
  // Writes a vector with a single buffer at address 16.
  void put_vector(std::uint32_t address, std::uint32_t size) { put(16, address), put(20, size); }
  void put_clock_subscription(std::uint32_t address, std::uint64_t userdata, std::uint64_t timeout) {
    put(address, userdata), put(address + 8, std::uint8_t{0}), put(address + 16, std::uint32_t{1}), put(address + 24, timeout),
        put(address + 40, std::uint16_t{0});
  }

  Bytes bytes = Bytes(65536);
  GuestMemory memory{bytes.data(), bytes.size()};
  FakeClock clock;
  Tape determinants;
  PartedInput input;
  MemorySink output, errors;
  NoChunks chunks;
  CrowdedThread thread;
  Limits limits{.output_bytes = 1000};
  std::optional<ClockGate> gate;
  std::optional<Wasi> wasi;
};

constexpr std::uint32_t kOutside = 65533;  // too near the end for four bytes

TEST_F(WasiTest, HandsOutArgumentsAndEnvironment) {
  start({.args = {"prog", "x y"}, .env = {"A=1"}});
  EXPECT_EQ(wasi->args_sizes_get(memory, 0, 4).code, Errno::success);
  EXPECT_EQ(get(0), 2u);
  EXPECT_EQ(get(4), 9u);
  EXPECT_EQ(wasi->args_get(memory, 100, 200).code, Errno::success);
  EXPECT_EQ(get(104), 205u);
  EXPECT_EQ(get_string(200, 9), std::string("prog\0x y\0", 9));
  EXPECT_EQ(wasi->environ_get(memory, 100, 300).code, Errno::success);
  EXPECT_EQ(get_string(300, 4), std::string("A=1\0", 4));
}

// A refused fork is recorded: a program that forks again and again where it may not recorded more than its keeper takes.
TEST_F(WasiTest, AForkWaitsForRoomInTheLogOfDeterminants) {
  start();
  thread.full = Outlet::determinants;
  EXPECT_EQ(wasi->fork(memory, 0).after, After::park);
  EXPECT_EQ(std::get<AwaitRoom>(wasi->waiting()).outlet, Outlet::determinants);
  thread.full.reset();
  EXPECT_EQ(wasi->fork(memory, 0).after, After::park);
  EXPECT_TRUE(std::holds_alternative<ForkRequested>(wasi->waiting()));
}

TEST_F(WasiTest, RefusesAddressesOutsideTheMemory) {
  start({.args = {"prog"}});
  EXPECT_EQ(wasi->args_sizes_get(memory, kOutside, 0).code, Errno::fault);
  EXPECT_EQ(wasi->args_get(memory, 0, 0xfffffffe).code, Errno::fault);
  EXPECT_EQ(wasi->random_get(memory, 65000, 0xffffffff).code, Errno::fault);
  EXPECT_EQ(wasi->clock_time_get(memory, 1, 0, kOutside).code, Errno::fault);
  put_vector(65000, 5000);
  EXPECT_EQ(wasi->fd_write(memory, 1, 16, 1, 0).code, Errno::fault);
  EXPECT_EQ(wasi->fd_write(memory, 1, 65530, 1, 0).code, Errno::fault);
  EXPECT_EQ(wasi->fd_write(memory, 1, 16, 0xffffffff, 0).code, Errno::inval);
  EXPECT_EQ(wasi->fd_fdstat_get(memory, 1, kOutside).code, Errno::fault);
  EXPECT_EQ(wasi->poll_oneoff(memory, 65530, 0, 1, 0).code, Errno::fault);
}

TEST_F(WasiTest, WritesToTheRightStream) {
  start();
  put_string(100, "hello");
  put_vector(100, 5);
  EXPECT_EQ(wasi->fd_write(memory, 1, 16, 1, 8).code, Errno::success);
  EXPECT_EQ(wasi->fd_write(memory, 2, 16, 1, 8).code, Errno::success);
  EXPECT_EQ(get(8), 5u);
  EXPECT_EQ(output.text(), "hello");
  EXPECT_EQ(errors.text(), "hello");
  EXPECT_EQ(wasi->fd_write(memory, 0, 16, 1, 8).code, Errno::badf);
  EXPECT_EQ(wasi->fd_write(memory, 3, 16, 1, 8).code, Errno::badf);
}

// A write longer than one call takes is cut at a line end, so that output of other threads does not come into the middle of a line.
TEST_F(WasiTest, TakesWholeLinesOfALongWrite) {
  limits.output_bytes = 1u << 20;
  start();
  std::fill_n(bytes.begin() + 1000, 40000, 'x');
  bytes[1000 + 9999] = '\n';
  put_vector(1000, 40000);
  put(24, std::uint32_t{1000}), put(28, std::uint32_t{40000});
  EXPECT_EQ(wasi->fd_write(memory, 1, 16, 2, 8).code, Errno::success);
  EXPECT_EQ(get(8), 40000u + 10000);
  EXPECT_EQ(output.text().size(), 50000u);
  EXPECT_TRUE(output.text().ends_with('\n'));
}

TEST_F(WasiTest, EndsAGuestThatWritesTooMuch) {
  limits.output_bytes = 7;
  start();
  put_vector(100, 4);
  EXPECT_EQ(wasi->fd_write(memory, 1, 16, 1, 8).after, After::proceed);
  EXPECT_EQ(wasi->fd_write(memory, 2, 16, 1, 8).after, After::end);
  EXPECT_EQ(std::get<LimitReached>(wasi->ending()).which, LimitKind::output);
  EXPECT_EQ(wasi->saved_state().output_bytes, 4u);
}

TEST_F(WasiTest, ParksUntilThereIsInput) {
  input.parts = {"", "", "abc", "d"};
  start();
  put_vector(100, 2);
  EXPECT_EQ(wasi->fd_read(memory, 0, 16, 1, 8).after, After::park);
  EXPECT_TRUE(std::holds_alternative<AwaitInput>(wasi->waiting()));
  EXPECT_EQ(wasi->fd_read(memory, 0, 16, 1, 8).after, After::park);
  EXPECT_EQ(wasi->saved_state().parked, ParkedCall::input);
  EXPECT_EQ(wasi->fd_read(memory, 0, 16, 1, 8).after, After::proceed);
  EXPECT_EQ(get_string(100, 2), "ab");
  EXPECT_EQ(wasi->saved_state().parked, ParkedCall::none);
  EXPECT_EQ(wasi->saved_state().input, Bytes({'c'}));

  // The rest goes with the image.
  start(wasi->saved_state());
  EXPECT_EQ(wasi->fd_read(memory, 0, 16, 1, 8).after, After::proceed);
  EXPECT_EQ(get(8), 1u);
  EXPECT_EQ(wasi->fd_read(memory, 0, 16, 1, 8).after, After::proceed);
  EXPECT_EQ(get_string(100, 1), "d");
  EXPECT_EQ(wasi->fd_read(memory, 0, 16, 1, 8).after, After::proceed);
  EXPECT_EQ(get(8), 0u);
}

TEST_F(WasiTest, SleepsAcrossAMove) {
  start();
  put_clock_subscription(100, 7, 2000);
  put_clock_subscription(148, 8, 1000);
  EXPECT_EQ(wasi->poll_oneoff(memory, 100, 300, 2, 8).after, After::park);
  EXPECT_EQ(std::get<SleepUntil>(wasi->waiting()).deadline.count(), 1500);
  clock.monotonic += 400;
  EXPECT_EQ(wasi->poll_oneoff(memory, 100, 300, 2, 8).after, After::park);
  WasiState state = wasi->saved_state();

  clock.monotonic = 90'000;
  start(state);
  EXPECT_EQ(wasi->poll_oneoff(memory, 100, 300, 2, 8).after, After::park);
  EXPECT_EQ(std::get<SleepUntil>(wasi->waiting()).deadline.count(), 90'600);
  clock.monotonic = 90'600;
  EXPECT_EQ(wasi->poll_oneoff(memory, 100, 300, 2, 8).after, After::proceed);
  EXPECT_EQ(get(8), 1u);
  EXPECT_EQ(get(300), 8u);
  EXPECT_EQ(wasi->saved_state().deadline, 0u);
}

TEST_F(WasiTest, DoesNotSleepWhenAStreamIsReady) {
  input.parts = {"", "x"};
  start();
  put_clock_subscription(100, 7, 2000);
  put(148, std::uint64_t{9}), put(156, std::uint8_t{1}), put(164, std::uint32_t{0});  // fd_read of stdin
  EXPECT_EQ(wasi->poll_oneoff(memory, 100, 300, 2, 8).after, After::park);
  EXPECT_TRUE(std::get<SleepUntil>(wasi->waiting()).input_too);
  EXPECT_EQ(wasi->poll_oneoff(memory, 100, 300, 2, 8).after, After::proceed);
  EXPECT_EQ(get(8), 1u);
  EXPECT_EQ(get(300), 9u);
}

// A replay gives the same result as the first run, even if the input source has more input by then.
TEST_F(WasiTest, RepeatsWhetherInputCameInTime) {
  auto poll = [&] { return wasi->poll_oneoff(memory, 100, 300, 2, 8).after; };
  put_clock_subscription(100, 7, 2000);
  put(148, std::uint64_t{9}), put(156, std::uint8_t{1}), put(164, std::uint32_t{0});  // fd_read of stdin

  input.parts = {"", ""};
  start();
  EXPECT_EQ(poll(), After::park);
  clock.monotonic += 3000;
  EXPECT_EQ(poll(), After::proceed);
  EXPECT_EQ(get(300), 7u);
  auto timed_out = determinants.noted;
  EXPECT_EQ(timed_out.back(), Tape::Choice(DeterminantKind::input_ready, 0, 0));
  determinants.before.assign(timed_out.begin(), timed_out.end());
  input.parts = {"x"};
  start();
  EXPECT_EQ(poll(), After::proceed);
  EXPECT_EQ(get(300), 7u);
  EXPECT_TRUE(determinants.before.empty());

  determinants.noted.clear();
  input.parts = {"", "x"};
  start();
  EXPECT_EQ(poll(), After::park);
  EXPECT_EQ(poll(), After::proceed);
  EXPECT_EQ(get(300), 9u);
  auto in_time = determinants.noted;
  EXPECT_EQ(in_time.back(), Tape::Choice(DeterminantKind::input_ready, 0, 1));
  determinants.before.assign(in_time.begin(), in_time.end());
  input.parts = {"", "x"};
  start();
  EXPECT_EQ(poll(), After::park);
  EXPECT_TRUE(std::holds_alternative<AwaitInput>(wasi->waiting()));
  clock.monotonic += 9000;
  start(wasi->saved_state());  // moved in between
  EXPECT_EQ(poll(), After::proceed);
  EXPECT_EQ(get(300), 9u);
}

// With something else that is ready a poll does not wait for input, so looking at it is a choice, too.
TEST_F(WasiTest, RecordsALookAtInputBesideReadyOutput) {
  put(100, std::uint64_t{5}), put(108, std::uint8_t{2}), put(116, std::uint32_t{1});  // fd_write of stdout
  put(148, std::uint64_t{9}), put(156, std::uint8_t{1}), put(164, std::uint32_t{0});  // fd_read of stdin
  input.parts = {"", "x"};
  start();
  EXPECT_EQ(wasi->poll_oneoff(memory, 100, 300, 2, 8).after, After::proceed);
  EXPECT_EQ(get(8), 1u);
  EXPECT_EQ(wasi->poll_oneoff(memory, 100, 300, 2, 8).after, After::proceed);
  EXPECT_EQ(get(8), 2u);
  std::vector<Tape::Choice> expected = {{DeterminantKind::input_ready, 0, 0}, {DeterminantKind::input_ready, 0, 1}};
  EXPECT_EQ(determinants.noted, expected);
}

TEST_F(WasiTest, RefusesASleeperThatIsNotThere) {
  start({.parked = ParkedCall::sleep, .deadline = 1, .sleeper = 5});
  put_clock_subscription(100, 7, 0);
  EXPECT_EQ(wasi->poll_oneoff(memory, 100, 300, 1, 8).code, Errno::inval);
}

TEST_F(WasiTest, ParksOnceAtACheckpoint) {
  start();
  EXPECT_EQ(wasi->checkpoint(memory).after, After::park);
  start(wasi->saved_state());
  EXPECT_EQ(wasi->checkpoint(memory).after, After::proceed);
  EXPECT_EQ(wasi->checkpoint(memory).after, After::park);
}

TEST_F(WasiTest, DrawsTheSameRandomNumbersAfterAMove) {
  start({.random = GuestRandom({9}, 0)});
  EXPECT_EQ(wasi->random_get(memory, 0, 40).code, Errno::success);
  start({.random = GuestRandom({9}, 0)});
  EXPECT_EQ(wasi->random_get(memory, 100, 13).code, Errno::success);
  start(wasi->saved_state());
  EXPECT_EQ(wasi->random_get(memory, 113, 27).code, Errno::success);
  EXPECT_EQ(get_string(0, 40), get_string(100, 40));
}

TEST_F(WasiTest, ForgetsClosedDescriptors) {
  start();
  EXPECT_EQ(wasi->fd_fdstat_get(memory, 1, 0).code, Errno::success);
  EXPECT_EQ(bytes[0], 2);
  EXPECT_EQ(wasi->fd_close(memory, 1).code, Errno::success);
  EXPECT_EQ(wasi->fd_close(memory, 1).code, Errno::badf);
  EXPECT_EQ(wasi->fd_fdstat_get(memory, 1, 0).code, Errno::badf);
}

TEST_F(WasiTest, EndsWithTheExitCode) {
  start();
  EXPECT_EQ(wasi->proc_exit(memory, 42).after, After::end);
  EXPECT_EQ(std::get<Exited>(wasi->ending()).code, 42u);
}

// With any arguments every call answers, and touches nothing outside the memory (which the sanitizers watch).
TEST_F(WasiTest, EveryCallSurvivesEveryArgument) {
  constexpr std::array<std::uint64_t, 6> kValues = {0, 1, 65530, 0x7fffffff, 0xffffffff, 0xffffffffffffffff};
  for (const HostImport& import : host_imports()) {
    start();
    for (std::uint64_t first : kValues) {
      for (std::uint64_t rest : kValues) {
        std::array<std::uint64_t, kMaxImportParams> args;
        args.fill(rest);
        args[0] = first;
        (void)import.call(*wasi, memory, args.data());
      }
    }
  }
}

TEST(HostImports, AreWhatThePreprocessorKnows) {
  auto known = wire::host_functions();
  auto ours = host_imports();
  ASSERT_EQ(known.size(), ours.size());
  for (std::size_t i = 0; i < known.size(); i++) {
    EXPECT_EQ(known[i].name, ours[i].name);
    EXPECT_EQ(known[i].blocking, ours[i].blocking);
  }
  auto path_open = std::ranges::find(ours, "path_open", &HostImport::name);
  EXPECT_EQ(path_open->params, "iiiiiIIii");
}

}  // namespace
}  // namespace gw::isolate
