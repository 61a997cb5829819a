#include "isolate/engine/engine.h"

#include "isolate/engine/wasm_engine.h"
#include "isolate/engine/watchdog.h"
#include "isolate/memory/memory_watch.h"
#include "isolate/module_check.h"

namespace gw::isolate {

Engine::Engine() = default;
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::make() { return make(std::make_unique<MemoryWatch>()); }

Result<std::unique_ptr<Engine>> Engine::make(std::unique_ptr<MemoryWatch> memory_watch) {
  GW_TRY_VOID(start_wasm_engine());
  auto engine = std::unique_ptr<Engine>(new Engine());
  GW_TRY(engine->loader_, PoolThread::make({.name = "gw-loader"}));
  engine->watchdog_ = std::make_unique<Watchdog>();
  engine->memory_watch_ = std::move(memory_watch);
  return engine;
}

Result<std::unique_ptr<PoolThread>> Engine::make_thread(PoolThread::Config config) { return PoolThread::make(std::move(config)); }

Result<std::shared_ptr<const Module>> Engine::load(Bytes wasm, ByteView native) {
  GW_TRY(ModuleFacts facts, check_module(wasm));
  auto module = std::shared_ptr<Module>(new Module());
  module->wasm_ = std::move(wasm);
  module->info_ = std::move(facts.info);
  module->memory_ = facts.memory;
  module->restartable_ = facts.restartable;
  GW_TRY_VOID(loader_->call([&] { return load_code(*module, native); }));
  return std::shared_ptr<const Module>(std::move(module));
}

Status Engine::load_code(Module& module, ByteView native) {
  WasmHeap& heap = loader_->heap();
  if (!native.empty()) {
    // The engine keeps copies of what it gets, and has no use for the names: a fifth of the module, in ours.
    GW_TRY(const ByteView needed, wire::without_last_custom_sections(module.wasm_));
    if (auto code = heap.load(needed, native)) {
      module.code_ = *std::move(code);
      module.code_source_ = CodeSource::native;
      return ok();
    }
    module.code_source_ = CodeSource::native_refused;
  }
  GW_TRY(module.code_, heap.compile(module.wasm_));
  return ok();
}

}  // namespace gw::isolate
