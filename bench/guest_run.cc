#include "guest_run.h"

#include <sys/resource.h>

#include "node/worker/native_code.h"
#include "os/process/process.h"

namespace gw::bench {
namespace {

double children_cpu_seconds() {
  rusage usage{};
  GW_ASSERT(getrusage(RUSAGE_CHILDREN, &usage) == 0);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Result<RunCost> run_native(const std::filesystem::path& program) { return run_command({.argv = {program.string()}}); }

Result<RunCost> run_command(const os::ProcessRequest& request) {
  const double before = children_cpu_seconds();
  GW_TRY(os::ProcessResult result, os::run_process(request));
  const double after = children_cpu_seconds();
  if (!result.succeeded()) return fail(Kind::guest_fault, "{} failed: {}", request.argv.back(), result.err);
  return RunCost{after - before, std::move(result.out)};
}

std::vector<std::string> compiler_command() { return {"/proc/self/exe", "compile"}; }

Result<GuestRunner> GuestRunner::make() {
  GW_TRY(os::TempDir cache, os::TempDir::make());
  GW_TRY(auto engine, isolate::Engine::make());
  GW_TRY(auto thread, engine->make_thread());
  return GuestRunner(std::move(cache), std::move(engine), std::move(thread));
}

Result<std::shared_ptr<const isolate::Module>> load_compiled(isolate::Engine& engine, const std::filesystem::path& cache_root,
                                                             const Hash256& hash, Bytes wasm, isolate::CodeKind kind) {
  GW_TRY(auto native_code, node::NativeCode::open({.cache_root = cache_root, .compiler = compiler_command()}));
  auto code = native_code.find(hash, wasm, kind);
  if (!code) {
    GW_TRY_VOID(native_code.make(wasm, kind));
    code = native_code.find(hash, wasm, kind);
  }
  if (!code) return fail(Kind::internal, "compiled code that was stored is not found again");
  GW_TRY(auto module, engine.load(std::move(wasm), code->bytes()));
  if (module->code_source() != isolate::CodeSource::native) return fail(Kind::internal, "the engine refuses the code it has made itself");
  return module;
}

Result<std::shared_ptr<const isolate::Module>> GuestRunner::load(Bytes wasm) {
  const Hash256 hash = sha256(wasm);
  return load_compiled(*engine_, cache_.path(), hash, std::move(wasm), isolate::CodeKind::restore);
}

Result<RunCost> GuestRunner::run(const std::shared_ptr<const isolate::Module>& module, const std::vector<std::string>& args) {
  isolate::EmptyInput input;
  isolate::MemorySink output, errors;
  isolate::SystemClock clock;
  isolate::LiveDeterminants determinants;
  isolate::NoChunks chunks;
  GW_TRY(auto guest,
         isolate::Isolate::make(*engine_, *thread_, module, {.args = args}, {input, output, errors, clock, determinants, chunks}));
  isolate::Stop stop = guest->resume();
  while (isolate::can_resume(stop)) stop = guest->resume();
  const auto* exited = std::get_if<isolate::Exited>(&stop);
  if (exited == nullptr || exited->code != 0) {
    return fail(Kind::guest_fault, "{} {}: {}", args.front(), isolate::describe(stop), errors.text());
  }
  return RunCost{std::chrono::duration<double>(guest->cpu_time()).count(), std::string(output.text())};
}

}  // namespace gw::bench
