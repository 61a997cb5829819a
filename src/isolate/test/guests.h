#pragma once
// Small guests, written by hand, and what it takes to run them in a test.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "isolate/engine/engine.h"
#include "isolate/isolate.h"
#include "wire/wasm/module_info.h"

namespace gw::isolate::test {

// The binary form of a module in wasm text (by wat2wasm).
Bytes assemble(std::string_view wat);

// The module with a `godwit` section.
Bytes with_info(Bytes wasm, const wire::ModuleInfo& info);

// The section that the pre-processor would write: poll cell at 16, unwind stack at 1024, its pointer in the global godwit.g0.
wire::ModuleInfo cell_info();
wire::ModuleInfo counter_info();

// Adds up 0 + 1 + ... and polls in each turn; has a million turns per argument. Prints "sum=" and 8 hexadecimal digits.
Bytes summing_guest(wire::Poll poll);

// A mobile module of these parts, so many pages of memory, and the ABI: $begin_unwind, $push, $pop (i64), the globals $unwinding and
// $rewinding.
Bytes mobile_guest(std::string_view imports, std::string_view body, const wire::ModuleInfo& info = cell_info(), unsigned pages = 2);
// A module of level off.
Bytes plain_guest(std::string_view body);

// The engine for all tests of the process.
Engine& engine();
std::shared_ptr<const Module> load(Bytes wasm);

// A pool thread and a world for isolates that keep what they print.
struct World {
  World();
  IsolateHost host() { return {input, output, errors, clock, determinants, chunks}; }
  std::unique_ptr<Isolate> make(std::shared_ptr<const Module> module, IsolateConfig config = {});

  std::unique_ptr<PoolThread> thread;
  EmptyInput no_input;
  InputSource& input = no_input;
  MemorySink output, errors;
  SystemClock clock;
  LiveDeterminants determinants;
  NoChunks chunks;
};

}  // namespace gw::isolate::test
