#include "isolate/v8_platform.h"

#include <libplatform/libplatform.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <v8.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <memory>

#include "isolate/wasm_engine.h"

namespace gw::isolate {
namespace {

constexpr int kCompileThreads = 2;

// Only the optimising compiler: V8 10.2 has no on-stack replacement for wasm, a loop entered in baseline code would stay there.
// Guests may not use threads or exceptions (design 6), so the engine does not accept them either. The pre-processor hints which branches
// are rare and which functions: those are compiled on their first call.
constexpr char kFlags[] =
    "--no-liftoff --no-wasm-tier-up --no-wasm-dynamic-tiering --wasm-write-protect-code-memory "
    "--no-experimental-wasm-threads --no-experimental-wasm-eh --experimental-wasm-branch-hinting "
    "--experimental-wasm-compilation-hints";

// V8 otherwise opens /dev/urandom for every heap, which a sandboxed process may not.
bool fill_with_entropy(unsigned char* buffer, std::size_t length) { return getrandom(buffer, length, 0) == static_cast<ssize_t>(length); }

// The platform lives as long as the process: V8 cannot be started twice, and its worker threads may be busy until the very end.
v8::Platform* g_platform = nullptr;

Status start() {
  v8::V8::SetFlagsFromString(kFlags, sizeof kFlags - 1);
  v8::V8::SetEntropySource(fill_with_entropy);
  g_platform = v8::platform::NewDefaultPlatform(kCompileThreads).release();
  v8::V8::InitializePlatform(g_platform);
  v8::V8::Initialize();
  // Without it every memory access needs a bounds check, and memory might move when it grows.
  if (!v8::V8::EnableWebAssemblyTrapHandler(true))
    return fail(Kind::unsupported, "V8 cannot install its handler for out-of-bounds accesses on this system");
  return ok();
}

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

Status start_wasm_engine() {
  static const Status kStarted = start();
  return kStarted;
}

v8::Platform& v8_platform() {
  GW_ASSERT(g_platform != nullptr);
  return *g_platform;
}

std::string wasm_engine_version() { return std::string("V8 ") + v8::V8::GetVersion(); }

std::string wasm_engine_fingerprint() { return wasm_engine_version() + " " + kFlags + " " + processor_features(); }

}  // namespace gw::isolate
