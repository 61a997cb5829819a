#pragma once
// Random programs: modules as no compiler would write them, whose output depends on everything they do.

#include <cstdint>

#include "base/bytes.h"
#include "transform/program_plan.h"

namespace gw::transform {

struct RandomProgram {
  Bytes wasm;
  Layout layout;
};

// The same seed gives the same bytes. The program imports only wasi_snapshot_preview1.fd_write, fd_read and godwit.checkpoint, ends by
// itself after some thousand steps, and prints a hash of what it has done, at the end and now and then before.
RandomProgram make_random_program(std::uint64_t seed);

}  // namespace gw::transform
