// Calls no function of V8, so that a program that links only this file does not load V8.

#include <fmt/format.h>
#include <sys/auxv.h>
#include <v8-version.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "isolate/engine/engine_fingerprint.h"

namespace gw::isolate {
namespace {

std::string processor_features() {
  std::string features = fmt::format("{:x}-{:x}", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) features += fmt::format("-{:x}-{:x}", c, d);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) features += fmt::format("-{:x}-{:x}-{:x}", b, c, d);
#endif
  return features;
}

}  // namespace

// Only the optimising compiler: V8 10.2 has no on-stack replacement for wasm, a loop entered in baseline code would stay there.
// Guests may not use threads or exceptions (design 6), so the engine does not accept them either. The pre-processor hints which branches
// are rare and which functions: those are compiled on their first call.
// Protection keys of the processor (PKU) are off: V8 would prefer them to mprotect where there are any. Their system calls are not allowed
// in the cage, and each thread has rights of its own, so that the thread that serialises code could not read what another one compiled.
const char kEngineFlags[] =
    "--no-liftoff --no-wasm-tier-up --no-wasm-dynamic-tiering --wasm-write-protect-code-memory "
    "--no-wasm-memory-protection-keys --no-experimental-wasm-threads --no-experimental-wasm-eh --experimental-wasm-branch-hinting "
    "--experimental-wasm-compilation-hints";

std::string engine_fingerprint() {
  return fmt::format("V8 {}.{}.{}.{} {} {}", V8_MAJOR_VERSION, V8_MINOR_VERSION, V8_BUILD_NUMBER, V8_PATCH_LEVEL, kEngineFlags,
                     processor_features());
}

}  // namespace gw::isolate
