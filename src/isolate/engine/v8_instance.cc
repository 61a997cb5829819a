#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "isolate/engine/v8_heap.h"

namespace gw::isolate {
namespace {

// V8 frees an instance, and the 10 GiB of addresses it reserves, when it next collects garbage, which nothing but us makes it do. A
// collection looks at all instances: done when as many are garbage as are alive, its cost per instance stays constant.
constexpr std::size_t kMinGarbage = 256;

void collect_garbage_if_due(WasmHeap::Impl& heap) {
  if (heap.garbage < std::max(kMinGarbage, heap.live)) return;
  heap.isolate->LowMemoryNotification();
  heap.garbage = 0;
}

void give_back(std::uint8_t* memory, std::size_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  // Where the kernel has no room for another mapping, at least what the guest has written goes.
  if (mmap(memory, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0) == MAP_FAILED) (void)madvise(memory, bytes, MADV_DONTNEED);
}

template <class T>
T from_bytes(const wire::GlobalValue& value) {
  T out;
  std::memcpy(&out, value.bytes.data(), sizeof out);
  return out;
}

template <class T>
wire::GlobalValue to_bytes(wire::ValueType type, T value) {
  wire::GlobalValue out{.type = type, .bytes = {}};
  std::memcpy(out.bytes.data(), &value, sizeof value);
  return out;
}

v8::Local<v8::Value> to_v8(v8::Isolate* isolate, const wire::GlobalValue& value) {
  switch (value.type) {
    case wire::ValueType::i32:
      return v8::Int32::New(isolate, from_bytes<std::int32_t>(value));
    case wire::ValueType::i64:
      return v8::BigInt::NewFromUnsigned(isolate, from_bytes<std::uint64_t>(value));
    case wire::ValueType::f32:
      return v8::Number::New(isolate, from_bytes<float>(value));
    case wire::ValueType::f64:
      return v8::Number::New(isolate, from_bytes<double>(value));
    default:
      return {};
  }
}

std::optional<wire::GlobalValue> from_v8(v8::Local<v8::Context> context, wire::ValueType type, v8::Local<v8::Value> value) {
  switch (type) {
    case wire::ValueType::i32:
      if (!value->IsNumber()) return std::nullopt;
      return to_bytes(type, value->Int32Value(context).FromJust());
    case wire::ValueType::i64:
      if (!value->IsBigInt()) return std::nullopt;
      return to_bytes(type, value.As<v8::BigInt>()->Uint64Value());
    case wire::ValueType::f32:
      if (!value->IsNumber()) return std::nullopt;
      return to_bytes(type, static_cast<float>(value.As<v8::Number>()->Value()));
    case wire::ValueType::f64:
      if (!value->IsNumber()) return std::nullopt;
      return to_bytes(type, value.As<v8::Number>()->Value());
    default:
      return std::nullopt;
  }
}

v8::MaybeLocal<v8::Object> exported_object(const HeapScope& scope, WasmInstance::Impl& instance, std::string_view name) {
  v8::Isolate* isolate = instance.heap.isolate;
  if (const auto found = instance.found_exports.find(name); found != instance.found_exports.end()) return found->second.Get(isolate);
  v8::Local<v8::Value> value;
  if (!instance.exports.Get(isolate)->Get(scope.context, v8_name(isolate, name)).ToLocal(&value) || !value->IsObject()) return {};
  instance.found_exports.emplace(name, v8::Global<v8::Object>(isolate, value.As<v8::Object>()));
  return value.As<v8::Object>();
}

Status find_memory(const HeapScope& scope, WasmInstance::Impl& instance) {
  v8::Local<v8::Object> memory;
  if (!exported_object(scope, instance, "memory").ToLocal(&memory) || !memory->IsWasmMemoryObject())
    return fail(Kind::invalid, "the module does not export its memory as 'memory'");
  instance.memory = memory.As<v8::WasmMemoryObject>()->Buffer()->GetBackingStore();
  instance.memory_base = static_cast<std::uint8_t*>(instance.memory->Data());
  return ok();
}

Error instantiation_error(v8::Isolate* isolate, v8::Local<v8::Value> exception) {
  std::string text = v8_text(isolate, exception);
  if (text.find("RangeError") != std::string::npos)
    return fail(Kind::overloaded, "there is no room for another instance in this process: {}", text);
  return fail(Kind::invalid, "the module cannot be instantiated: {}", text);
}

}  // namespace

WasmInstance::WasmInstance(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) { impl_->heap.live++; }

WasmInstance::~WasmInstance() {
  WasmHeap::Impl& heap = impl_->heap;
  GW_ASSERT(heap.running != impl_.get());
  // The pages, and a snapshot they are mapped from, go back to the system now, not when V8 gets round to it.
  if (memory_bytes() > 0) give_back(memory_base(), memory_bytes());
  impl_.reset();
  heap.live--;
  heap.garbage++;
  collect_garbage_if_due(heap);
}

Result<std::unique_ptr<WasmInstance>> WasmInstance::make(WasmHeap& owner, const WasmCode& code, ImportHost& host) {
  WasmHeap::Impl& heap = owner.impl();
  HeapScope scope(heap);
  v8::TryCatch catcher(heap.isolate);
  v8::Local<v8::WasmModuleObject> module;
  if (!v8::WasmModuleObject::FromCompiledModule(heap.isolate, code.impl().module).ToLocal(&module))
    return instantiation_error(heap.isolate, catcher.Exception());
  v8::Local<v8::Value> arguments[] = {module, heap.imports.Get(heap.isolate)};
  v8::Local<v8::Object> instance;
  if (!heap.make_instance.Get(heap.isolate)->NewInstance(scope.context, 2, arguments).ToLocal(&instance))
    return instantiation_error(heap.isolate, catcher.Exception());
  auto exports = instance->Get(scope.context, v8_name(heap.isolate, "exports")).ToLocalChecked().As<v8::Object>();
  auto impl = std::make_unique<Impl>(heap, host, v8::Global<v8::Object>(heap.isolate, exports));
  GW_TRY_VOID(find_memory(scope, *impl));
  return std::unique_ptr<WasmInstance>(new WasmInstance(std::move(impl)));
}

CallOutcome WasmInstance::call(std::string_view name) {
  WasmHeap::Impl& heap = impl_->heap;
  HeapScope scope(heap);
  v8::TryCatch catcher(heap.isolate);
  catcher.SetCaptureMessage(false);  // what is thrown says it all; a message would cost a walk over the stack for every exit()
  v8::Local<v8::Object> function;
  if (!exported_object(scope, *impl_, name).ToLocal(&function) || !function->IsFunction())
    return TrapReport{TrapKind::other, {}, fmt::format("the module does not export the function '{}'", name)};
  WasmInstance::Impl* outer = std::exchange(heap.running, impl_.get());
  bool returned = !function.As<v8::Function>()->Call(scope.context, v8::Undefined(heap.isolate), 0, nullptr).IsEmpty();
  heap.running = outer;
  if (returned) return Returned{};
  if (catcher.HasTerminated()) return Terminated{};
  if (std::exchange(impl_->ended_by_host, false)) return EndedByHost{};
  return v8_trap_report(scope.context, catcher.Exception());
}

std::vector<CodePosition> WasmInstance::frames() {
  HeapScope scope(impl_->heap);
  return v8_frames(scope.context, v8::Exception::Error(v8_name(impl_->heap.isolate, "")));  // an error knows where it was made
}

Result<wire::GlobalValue> WasmInstance::global(std::string_view name, wire::ValueType type) {
  HeapScope scope(impl_->heap);
  v8::Isolate* isolate = impl_->heap.isolate;
  v8::TryCatch catcher(isolate);
  v8::Local<v8::Object> global;
  v8::Local<v8::Value> value;
  if (exported_object(scope, *impl_, name).ToLocal(&global) &&
      global->Get(scope.context, impl_->heap.value_name.Get(isolate)).ToLocal(&value)) {
    if (auto result = from_v8(scope.context, type, value)) return *result;
  }
  return fail(Kind::invalid, "the module does not export a global '{}' of type {} that can be read", name, wire::name(type));
}

Status WasmInstance::set_global(std::string_view name, const wire::GlobalValue& value) {
  HeapScope scope(impl_->heap);
  v8::Isolate* isolate = impl_->heap.isolate;
  v8::TryCatch catcher(isolate);
  v8::Local<v8::Value> converted = to_v8(isolate, value);
  v8::Local<v8::Object> global;
  if (!converted.IsEmpty() && exported_object(scope, *impl_, name).ToLocal(&global) &&
      global->Set(scope.context, impl_->heap.value_name.Get(isolate), converted).FromMaybe(false))
    return ok();
  return fail(Kind::invalid, "the module does not export a mutable global '{}' of type {}", name, wire::name(value.type));
}

Status WasmInstance::grow_memory(std::uint32_t pages) {
  HeapScope scope(impl_->heap);
  v8::Isolate* isolate = impl_->heap.isolate;
  v8::TryCatch catcher(isolate);
  auto memory = exported_object(scope, *impl_, "memory").ToLocalChecked();
  auto grow = memory->Get(scope.context, v8_name(isolate, "grow")).ToLocalChecked().As<v8::Function>();
  v8::Local<v8::Value> delta = v8::Integer::NewFromUnsigned(isolate, pages);
  if (grow->Call(scope.context, memory, 1, &delta).IsEmpty())
    return fail(Kind::overloaded, "the memory cannot grow by {} pages: {}", pages, v8_text(isolate, catcher.Exception()));
  return ok();
}

std::uint8_t* WasmInstance::memory_base() const { return impl_->memory_base; }

std::size_t WasmInstance::memory_bytes() const { return impl_->memory->ByteLength(); }

}  // namespace gw::isolate
