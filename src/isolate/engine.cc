#include "isolate/engine.h"

#include "base/log.h"
#include "isolate/code_cache.h"
#include "isolate/memory_watch.h"
#include "isolate/module_check.h"
#include "isolate/wasm_engine.h"
#include "isolate/watchdog.h"
#include "os/process.h"

namespace gw::isolate {
namespace {

constexpr std::chrono::minutes kCompileTimeout{5};

}  // namespace

Engine::Engine() = default;
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::make(Config config) {
  GW_TRY_VOID(start_wasm_engine());
  auto engine = std::unique_ptr<Engine>(new Engine());
  GW_TRY(engine->loader_, PoolThread::make({.name = "gw-loader"}));
  engine->watchdog_ = std::make_unique<Watchdog>();
  engine->memory_watch_ = std::make_unique<MemoryWatch>();
  if (config.cache_root) {
    GW_TRY(CodeCache cache, CodeCache::open(*config.cache_root));
    engine->cache_ = std::make_unique<CodeCache>(std::move(cache));
  }
  engine->compiler_ = std::move(config.compiler);
  return engine;
}

Result<std::unique_ptr<PoolThread>> Engine::make_thread(PoolThread::Config config) { return PoolThread::make(std::move(config)); }

std::string Engine::version() { return wasm_engine_version(); }

Result<std::shared_ptr<const Module>> Engine::load(Bytes wasm) {
  GW_TRY(ModuleFacts facts, check_module(wasm));
  auto module = std::shared_ptr<Module>(new Module());
  module->wasm_ = std::move(wasm);
  module->hash_ = sha256(module->wasm_);
  module->info_ = std::move(facts.info);
  module->memory_ = facts.memory;
  GW_TRY(module->code_, loader_->call([&] { return code_of(*module); }));
  return std::shared_ptr<const Module>(std::move(module));
}

Result<std::shared_ptr<const WasmCode>> Engine::code_of(const Module& module) {
  if (cache_) {
    if (auto code = from_cache(module)) return code;
    if (fill_cache(module)) {
      if (auto code = from_cache(module)) return code;
    }
  }
  return loader_->heap().compile(module.wasm_);
}

Result<std::shared_ptr<const WasmCode>> Engine::from_cache(const Module& module) {
  auto native = cache_->find(module.hash_);
  if (!native) {
    if (native.error().kind != Kind::not_found) log::warn("isolate", "cached code refused", kv("reason", native.error().detail));
    return native.error();
  }
  auto code = loader_->heap().load(module.wasm_, native->code());
  if (!code) log::warn("isolate", "cached code refused", kv("reason", code.error().detail));
  return code;
}

bool Engine::fill_cache(const Module& module) {
  if (compiler_.empty()) return false;
  os::ProcessRequest request;
  request.argv = compiler_;
  request.argv.push_back(cache_->root().string());
  request.stdin_bytes = module.wasm_;
  request.timeout = kCompileTimeout;
  auto result = os::run_process(request);
  bool succeeded = result && result->succeeded();
  if (!succeeded) log::warn("isolate", "the compile-only process failed", kv("reason", result ? result->err : result.error().detail));
  return succeeded;
}

}  // namespace gw::isolate
