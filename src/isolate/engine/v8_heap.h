#pragma once
// The insides of WasmHeap, WasmCode and WasmInstance. Only v8_*.cc may include this.

#include <v8.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "isolate/engine/v8_platform.h"
#include "isolate/engine/wasm_engine.h"

namespace gw::isolate {

struct WasmCode::Impl {
  mutable v8::CompiledWasmModule module;  // Serialize() is not const
};

// A v8::Isolate with one context. Every instance of the thread is linked to the same import functions, made once: a host call finds its
// isolate through `running`, not through a closure of its own.
struct WasmHeap::Impl {
  ~Impl();

  std::unique_ptr<v8::ArrayBuffer::Allocator> allocator;
  v8::Isolate* isolate = nullptr;
  v8::Global<v8::Context> context;
  v8::Global<v8::Object> imports;
  v8::Global<v8::Function> make_instance;      // WebAssembly.Instance
  v8::Global<v8::Function> compile_streaming;  // WebAssembly.compileStreaming
  v8::Global<v8::String> value_name;           // of the property that every global has

  WasmInstance::Impl* running = nullptr;  // innermost instance on the stack
  std::size_t live = 0;                   // instances
  std::size_t garbage = 0;                // instances dropped since the last full collection

  // The bytes for the streaming callback, set around compile_streaming.
  ByteView stream_wasm, stream_native;
  bool stream_accepted = false;
};

struct WasmInstance::Impl {
  WasmHeap::Impl& heap;
  ImportHost& host;
  v8::Global<v8::Object> exports;
  std::map<std::string, v8::Global<v8::Object>, std::less<>> found_exports;  // those that were asked for; an export never changes
  std::shared_ptr<v8::BackingStore> memory;
  std::uint8_t* memory_base = nullptr;
  bool ended_by_host = false;
};

// Makes the heap current on this thread; handles made inside die with it.
struct HeapScope {
  explicit HeapScope(WasmHeap::Impl& heap)
      : isolate_scope(heap.isolate), handle_scope(heap.isolate), context(heap.context.Get(heap.isolate)), context_scope(context) {}

  v8::Isolate::Scope isolate_scope;
  v8::HandleScope handle_scope;
  v8::Local<v8::Context> context;
  v8::Context::Scope context_scope;
};

// A short name, shared with all equal ones.
v8::Local<v8::String> v8_name(v8::Isolate* isolate, std::string_view text);

// The text that JavaScript would print for the value.
std::string v8_text(v8::Isolate* isolate, v8::Local<v8::Value> value);

// {module: {name: function}} for all of host_imports().
v8::Local<v8::Object> v8_make_imports(v8::Local<v8::Context> context);

// The report of an exception that is neither a termination nor thrown by the host.
TrapReport v8_trap_report(v8::Local<v8::Context> context, v8::Local<v8::Value> exception);
std::vector<CodePosition> v8_frames(v8::Local<v8::Context> context, v8::Local<v8::Value> exception);

}  // namespace gw::isolate
