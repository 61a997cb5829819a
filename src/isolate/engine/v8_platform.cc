#include "isolate/engine/v8_platform.h"

#include <libplatform/libplatform.h>
#include <sys/random.h>
#include <v8.h>

#include <memory>

#include "isolate/engine/engine_fingerprint.h"
#include "isolate/engine/wasm_engine.h"

namespace gw::isolate {
namespace {

constexpr int kCompileThreads = 2;

// V8 otherwise opens /dev/urandom for every heap, which a sandboxed process may not.
bool fill_with_entropy(unsigned char* buffer, std::size_t length) { return getrandom(buffer, length, 0) == static_cast<ssize_t>(length); }

// The platform lives as long as the process: V8 cannot be started twice, and its worker threads may be busy until the very end.
v8::Platform* g_platform = nullptr;

Status start() {
  v8::V8::SetFlagsFromString(kEngineFlags);
  v8::V8::SetEntropySource(fill_with_entropy);
  g_platform = v8::platform::NewDefaultPlatform(kCompileThreads).release();
  v8::V8::InitializePlatform(g_platform);
  v8::V8::Initialize();
  // Without it every memory access needs a bounds check, and memory might move when it grows.
  if (!v8::V8::EnableWebAssemblyTrapHandler(true))
    return fail(Kind::unsupported, "V8 cannot install its handler for out-of-bounds accesses on this system");
  return ok();
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

}  // namespace gw::isolate
