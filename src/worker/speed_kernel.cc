#include "worker/speed_kernel.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "isolate/engine/pool_thread.h"
#include "isolate/engine/wasm_engine.h"

namespace gw::worker {
namespace {

using std::chrono::nanoseconds;

// The reference machine, with the speed 1: one core of an Intel Xeon at 2.5 GHz (Sapphire Rapids), which makes so many calls of the kernel
// in a second. The value never changes, because jobs ask for speeds in its unit.
constexpr double kReferenceCallsPerSecond = 2250;

constexpr nanoseconds kRunFor = std::chrono::milliseconds(50);
constexpr std::uint32_t kMostThousandths = 1'000'000;

// A module with one memory and a function "run", made by clang from
//
//     static unsigned table[16384];
//     static double sum;
//     void run(void) {
//       unsigned x = 2463534242u;
//       double f = sum;
//       for (int i = 0; i < 100000; ++i) {
//         x ^= x << 13; x ^= x >> 17; x ^= x << 5;
//         table[x & 16383] += x;
//         f = f * 0.5 + (double)table[i & 16383];
//       }
//       sum = f;
//     }
//
// Integers, numbers with a fraction, and a memory that fits into every cache of the second level.
constexpr std::array<std::uint8_t, 178> kKernel = {{
    0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x04, 0x01, 0x60, 0x00, 0x00, 0x03, 0x02, 0x01, 0x00, 0x05, 0x03,
    0x01, 0x00, 0x02, 0x07, 0x10, 0x02, 0x06, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 0x02, 0x00, 0x03, 0x72, 0x75, 0x6e, 0x00,
    0x00, 0x0a, 0x86, 0x01, 0x01, 0x83, 0x01, 0x02, 0x03, 0x7f, 0x01, 0x7c, 0x41, 0x80, 0x08, 0x2b, 0x03, 0x00, 0x21, 0x03,
    0x41, 0xa2, 0x99, 0xda, 0x96, 0x79, 0x21, 0x00, 0x03, 0x40, 0x20, 0x00, 0x41, 0x0d, 0x74, 0x20, 0x00, 0x73, 0x22, 0x00,
    0x41, 0x11, 0x76, 0x20, 0x00, 0x73, 0x22, 0x00, 0x41, 0x05, 0x74, 0x20, 0x00, 0x73, 0x22, 0x00, 0x41, 0xff, 0xff, 0x00,
    0x71, 0x41, 0x02, 0x74, 0x41, 0x90, 0x08, 0x6a, 0x22, 0x02, 0x20, 0x02, 0x28, 0x02, 0x00, 0x20, 0x00, 0x6a, 0x36, 0x02,
    0x00, 0x20, 0x03, 0x44, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x3f, 0xa2, 0x20, 0x01, 0x41, 0xff, 0xff, 0x00, 0x71,
    0x41, 0x02, 0x74, 0x41, 0x90, 0x08, 0x6a, 0x28, 0x02, 0x00, 0xb8, 0xa0, 0x21, 0x03, 0x20, 0x01, 0x41, 0x01, 0x6a, 0x22,
    0x01, 0x41, 0xa0, 0x8d, 0x06, 0x47, 0x0d, 0x00, 0x0b, 0x41, 0x80, 0x08, 0x20, 0x03, 0x39, 0x03, 0x00, 0x0b,
}};

// The kernel imports nothing.
class NoImports final : public isolate::ImportHost {
  isolate::CallResult on_import(const isolate::HostImport&, isolate::GuestMemory, const std::uint64_t*) override {
    return isolate::After::end;
  }
  void on_interrupt() override {}
};

nanoseconds time_of(clockid_t clock) {
  timespec time{};
  GW_ASSERT(clock_gettime(clock, &time) == 0);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

Result<double> calls_per_second(isolate::PoolThread& thread) {
  NoImports imports;
  GW_TRY(const auto code, thread.heap().compile(kKernel));
  GW_TRY(const auto instance, isolate::WasmInstance::make(thread.heap(), *code, imports));
  const auto run = [&]() -> Status {
    if (std::holds_alternative<isolate::Returned>(instance->call("run"))) return ok();
    return fail(Kind::internal, "the kernel that measures the speed did not return");
  };
  GW_TRY_VOID(run());  // the first call touches the memory
  const nanoseconds begun = time_of(thread.cpu_clock());
  std::uint64_t calls = 0;
  nanoseconds took{0};
  for (; took < kRunFor; took = time_of(thread.cpu_clock()) - begun, ++calls) GW_TRY_VOID(run());
  return static_cast<double>(calls) / std::chrono::duration<double>(took).count();
}

}  // namespace

Result<std::uint32_t> measure_speed() {
  GW_TRY(const auto thread, isolate::PoolThread::make({.name = "gw-speed"}));
  GW_TRY(const double calls, thread->call([&] { return calls_per_second(*thread); }));
  const double thousandths = std::round(calls / kReferenceCallsPerSecond * 1000);
  return static_cast<std::uint32_t>(std::clamp(thousandths, 1.0, static_cast<double>(kMostThousandths)));
}

}  // namespace gw::worker
