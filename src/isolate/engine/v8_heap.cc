#include "isolate/engine/v8_heap.h"

#include <libplatform/libplatform.h>

#include "isolate/engine/v8_platform.h"

namespace gw::isolate {
namespace {

WasmHeap::Impl& heap_of(v8::Isolate* isolate) { return *static_cast<WasmHeap::Impl*>(isolate->GetData(0)); }

// V8 takes serialised code only through its streaming interface, which asks for the bytes here.
void on_stream(const v8::FunctionCallbackInfo<v8::Value>& info) {
  WasmHeap::Impl& heap = heap_of(info.GetIsolate());
  auto stream = v8::WasmStreaming::Unpack(info.GetIsolate(), info.Data());
  heap.stream_accepted = stream->SetCompiledModuleBytes(heap.stream_native.data(), heap.stream_native.size());
  if (!heap.stream_accepted) {
    stream->Abort(v8::Null(info.GetIsolate()).As<v8::Value>());
    return;
  }
  stream->OnBytesReceived(heap.stream_wasm.data(), heap.stream_wasm.size());
  stream->Finish();
}

void on_interrupt(v8::Isolate* isolate, void*) {
  WasmHeap::Impl& heap = heap_of(isolate);
  if (heap.running != nullptr) heap.running->host.on_interrupt();
}

v8::Local<v8::Function> member(v8::Local<v8::Context> context, v8::Local<v8::Object> object, std::string_view name) {
  return object->Get(context, v8_name(context->GetIsolate(), name)).ToLocalChecked().As<v8::Function>();
}

void make_context(WasmHeap::Impl& heap) {
  v8::Isolate::Scope isolate_scope(heap.isolate);
  v8::HandleScope handle_scope(heap.isolate);
  auto context = v8::Context::New(heap.isolate);
  v8::Context::Scope context_scope(context);
  heap.context.Reset(heap.isolate, context);
  heap.imports.Reset(heap.isolate, v8_make_imports(context));
  // Frames that an error remembers; V8's own number is 10.
  auto error = context->Global()->Get(context, v8_name(heap.isolate, "Error")).ToLocalChecked().As<v8::Object>();
  error->Set(context, v8_name(heap.isolate, "stackTraceLimit"), v8::Integer::New(heap.isolate, kMaxCapturedFrames)).Check();
  auto webassembly = context->Global()->Get(context, v8_name(heap.isolate, "WebAssembly")).ToLocalChecked().As<v8::Object>();
  heap.make_instance.Reset(heap.isolate, member(context, webassembly, "Instance"));
  heap.value_name.Reset(heap.isolate, v8_name(heap.isolate, "value"));
  heap.compile_streaming.Reset(heap.isolate, member(context, webassembly, "compileStreaming"));
}

// Lets V8's own tasks run until the promise is settled.
void run_until_resolved(WasmHeap::Impl& heap, v8::Local<v8::Promise> promise) {
  heap.isolate->PerformMicrotaskCheckpoint();
  while (promise->State() == v8::Promise::kPending) {
    v8::platform::PumpMessageLoop(&v8_platform(), heap.isolate, v8::platform::MessageLoopBehavior::kWaitForWork);
    heap.isolate->PerformMicrotaskCheckpoint();
  }
}

std::shared_ptr<const WasmCode> wrap(v8::Local<v8::WasmModuleObject> module) {
  return std::make_shared<const WasmCode>(std::make_unique<WasmCode::Impl>(WasmCode::Impl{module->GetCompiledModule()}));
}

}  // namespace

WasmCode::WasmCode(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WasmCode::~WasmCode() = default;

Bytes WasmCode::serialize() const {
  v8::OwnedBuffer buffer = impl_->module.Serialize();
  return Bytes(buffer.buffer.get(), buffer.buffer.get() + buffer.size);
}

WasmHeap::Impl::~Impl() {
  GW_ASSERT(live == 0);
  compile_streaming.Reset();
  value_name.Reset();
  make_instance.Reset();
  imports.Reset();
  context.Reset();
  isolate->Dispose();
}

WasmHeap::WasmHeap(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WasmHeap::~WasmHeap() = default;

Result<std::unique_ptr<WasmHeap>> WasmHeap::make(std::size_t stack_bytes) {
  GW_TRY_VOID(start_wasm_engine());
  auto impl = std::make_unique<Impl>();
  impl->allocator.reset(v8::ArrayBuffer::Allocator::NewDefaultAllocator());
  v8::Isolate::CreateParams params;
  params.array_buffer_allocator = impl->allocator.get();
  impl->isolate = v8::Isolate::New(params);
  impl->isolate->SetData(0, impl.get());
  impl->isolate->SetStackLimit(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - stack_bytes);
  impl->isolate->SetMicrotasksPolicy(v8::MicrotasksPolicy::kExplicit);
  impl->isolate->SetWasmStreamingCallback(on_stream);  // before the context, which otherwise has no compileStreaming
  make_context(*impl);
  return std::unique_ptr<WasmHeap>(new WasmHeap(std::move(impl)));
}

Result<std::shared_ptr<const WasmCode>> WasmHeap::compile(ByteView wasm) {
  HeapScope scope(*impl_);
  v8::TryCatch catcher(impl_->isolate);
  v8::Local<v8::WasmModuleObject> module;
  if (!v8::WasmModuleObject::Compile(impl_->isolate, {wasm.data(), wasm.size()}).ToLocal(&module))
    return fail(Kind::invalid, "the module does not compile: {}", v8_text(impl_->isolate, catcher.Exception()));
  return wrap(module);
}

Result<std::shared_ptr<const WasmCode>> WasmHeap::load(ByteView wasm, ByteView native) {
  HeapScope scope(*impl_);
  v8::TryCatch catcher(impl_->isolate);
  impl_->stream_wasm = wasm;
  impl_->stream_native = native;
  impl_->stream_accepted = false;
  v8::Local<v8::Value> source = v8::Undefined(impl_->isolate);
  v8::Local<v8::Value> answer;
  if (!impl_->compile_streaming.Get(impl_->isolate)->Call(scope.context, v8::Undefined(impl_->isolate), 1, &source).ToLocal(&answer))
    return fail(Kind::internal, "V8 refuses to load compiled code: {}", v8_text(impl_->isolate, catcher.Exception()));
  auto promise = answer.As<v8::Promise>();
  run_until_resolved(*impl_, promise);
  if (promise->State() != v8::Promise::kFulfilled || !impl_->stream_accepted)
    return fail(Kind::corrupt, "V8 does not accept the compiled code as its own");
  return wrap(promise->Result().As<v8::WasmModuleObject>());
}

void WasmHeap::interrupt() { impl_->isolate->RequestInterrupt(on_interrupt, nullptr); }

void WasmHeap::terminate() { impl_->isolate->TerminateExecution(); }

void WasmHeap::forget_termination() { impl_->isolate->CancelTerminateExecution(); }

v8::Local<v8::String> v8_name(v8::Isolate* isolate, std::string_view text) {
  return v8::String::NewFromUtf8(isolate, text.data(), v8::NewStringType::kInternalized, static_cast<int>(text.size())).ToLocalChecked();
}

std::string v8_text(v8::Isolate* isolate, v8::Local<v8::Value> value) {
  v8::String::Utf8Value text(isolate, value);
  return *text == nullptr ? "unknown error" : std::string(*text, static_cast<std::size_t>(text.length()));
}

}  // namespace gw::isolate
