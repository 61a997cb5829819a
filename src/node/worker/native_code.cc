#include "node/worker/native_code.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>

#include "base/log.h"
#include "os/files/file.h"
#include "os/files/unique_fd.h"
#include "os/process/detached_process.h"
#include "os/process/process.h"
#include "wire/image/image.h"

namespace gw::node {
namespace {

constexpr std::chrono::minutes kCompileTimeout{5};
constexpr std::size_t kMaxNativeBytes = 512u << 20;

// Each cache has one compilation at a time: a hundred first runs at once shall not start a hundred compilers beside themselves. A process
// that does not get the lock runs without native code; the next run of that module starts the compilation again. The kernel drops the lock
// with its holder.
Result<os::UniqueFd> lock_filling(const std::filesystem::path& root) {
  os::UniqueFd fd(::open((root / "code.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return fail(Kind::internal, "the lock of the code cache in {} cannot be opened", root.string());
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return fail(Kind::overloaded, "another process is filling the code cache");
  return fd;
}

Result<os::ProcessResult> run_compiler(std::vector<std::string> argv, ByteView wasm, isolate::CodeKind kind) {
  argv.emplace_back(name(kind));
  return os::run_process(
      {.argv = std::move(argv), .stdin_bytes = Bytes(wasm.begin(), wasm.end()), .max_output = kMaxNativeBytes, .timeout = kCompileTimeout});
}

}  // namespace

Result<NativeCode> NativeCode::open(Config config) {
  GW_TRY(isolate::CodeCache cache, isolate::CodeCache::open(config.cache_root));
  return NativeCode(std::move(config), std::move(cache));
}

std::optional<os::SealedMemory> NativeCode::find(const Hash256& module, ByteView wasm, isolate::CodeKind kind) const {
  auto code = cache_.find(module, kind);
  if (code) return *std::move(code);
  if (code.error().kind != Kind::not_found) log::warn("node", "cached code refused", kv("reason", code.error().detail));
  replace(wasm, kind);
  return std::nullopt;
}

void NativeCode::replace(ByteView wasm, isolate::CodeKind kind) const {
  if (config_.filler.empty()) return;
  os::DetachedRequest request{.argv = config_.filler, .stdin_bytes = Bytes(wasm.begin(), wasm.end())};
  request.argv.emplace_back(name(kind));
  Status started = os::start_detached(request);
  if (!started) log::warn("node", "the code cache is not filled", kv("reason", started.error().detail));
}

Status NativeCode::make(ByteView wasm, isolate::CodeKind kind) const {
  GW_TRY(os::UniqueFd lock, lock_filling(config_.cache_root));
  GW_TRY(os::ProcessResult result, run_compiler(config_.compiler, wasm, kind));
  if (!result.succeeded()) return fail(Kind::internal, "the module was not compiled: {}", result.err);
  return cache_.store(sha256(wasm), kind, as_bytes(result.out));
}

int fill_code_cache_main(NativeCode::Config config, std::span<const std::string> args) {
  auto fill = [&]() -> Status {
    auto kind = args.size() == 1 ? isolate::parse_code_kind(args[0]) : std::nullopt;
    if (!kind) return fail(Kind::invalid, "the one argument is 'start' or 'restore'");
    GW_TRY(Bytes wasm, os::read_to_end(STDIN_FILENO, "standard input", wire::kMaxModuleBytes));
    GW_TRY(NativeCode code, NativeCode::open(std::move(config)));
    return code.make(wasm, *kind);
  };
  Status done = fill();
  if (!done) std::fprintf(stderr, "%s\n", done.error().detail.c_str());
  return done ? 0 : 1;
}

}  // namespace gw::node
