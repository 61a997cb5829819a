#pragma once
// The mobility pre-processor: a wasm module in, the same program in a form that can be suspended anywhere out.
// The way it works and the ABI it produces: docs/design/000-mobile-isolates.md.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "wire/wasm/module_info.h"

namespace gw::prep {

// Size of the unwind stack behind the memory of a module: that of the stack on which an engine runs it (isolate/engine/pool_thread.h). What
// a frame saves, the engine had to keep there too, so that whatever runs can be suspended. Only what is used costs memory.
inline constexpr std::uint32_t kUnwindBytes = 64u << 20;

enum class PollChoice {
  automatic,  // the cell where the module was linked with our runtime, else the counter
  counter,
};

enum class Verify { no, yes };  // yes: NaN bits are made canonical wherever the program or an image can observe them

struct Options {
  wire::Level level = wire::Level::fine;
  PollChoice poll = PollChoice::automatic;
  Verify verify = Verify::no;
};

struct LoopReport {
  std::string function;
  std::string reason;
};

struct Report {
  std::size_t bytes_before = 0;
  std::size_t bytes_after = 0;
  unsigned functions = 0;     // defined in the module
  unsigned instrumented = 0;  // have two bodies
  unsigned sites = 0;         // places where a frame can be left
  unsigned loops = 0;
  unsigned polled = 0;     // always polled
  unsigned versioned = 0;  // polled when the trip count is large
  unsigned unpolled = 0;
  unsigned polled_entries = 0;  // functions polled where they are entered, to cut recursion
  unsigned nan_points = 0;      // places where NaNs are made canonical
  unsigned direct_calls = 0;    // indirect calls made direct
  unsigned unrolled = 0;        // recursive functions that go two steps at a time
  std::vector<LoopReport> left_unpolled;
};

struct Output {
  Bytes wasm;
  Report report;
};

// REQUIRES: `wasm` is a well-formed module (libbinaryen ends the process when it cannot parse one; callers with foreign input run this in a
// child process, see toolchain). Modules we cannot make mobile are refused with a sentence. Deterministic.
// Must run on one thread at a time: libbinaryen keeps its options in globals.
Result<Output> process(ByteView wasm, const Options& options);

}  // namespace gw::prep
