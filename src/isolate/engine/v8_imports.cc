// Host functions as V8 sees them.

#include "isolate/engine/v8_heap.h"
#include "isolate/wasi/host_imports.h"

namespace gw::isolate {
namespace {

std::uint64_t argument(const v8::FunctionCallbackInfo<v8::Value>& info, int index, char type) {
  if (type == 'I') return info[index].As<v8::BigInt>()->Uint64Value();
  return static_cast<std::uint32_t>(info[index].As<v8::Int32>()->Value());
}

// Engine::load() has checked that the guest declares the import with this type, so the arguments have it.
void on_call(const v8::FunctionCallbackInfo<v8::Value>& info) {
  const auto& import = *static_cast<const HostImport*>(info.Data().As<v8::External>()->Value());
  v8::Isolate* isolate = info.GetIsolate();
  WasmInstance::Impl* instance = static_cast<WasmHeap::Impl*>(isolate->GetData(0))->running;
  GW_ASSERT(instance != nullptr);
  std::uint64_t args[kMaxImportParams];
  for (std::size_t i = 0; i < import.params.size(); i++) args[i] = argument(info, static_cast<int>(i), import.params[i]);

  CallResult result = instance->host.on_import(import, GuestMemory(instance->memory_base, instance->memory->ByteLength()), args);
  if (result.after == After::end) {
    instance->ended_by_host = true;
    isolate->ThrowException(v8::Null(isolate));  // unwinds the guest's frames; no guest can catch it
    return;
  }
  if (import.has_result) info.GetReturnValue().Set(static_cast<std::uint32_t>(result.code));
}

}  // namespace

v8::Local<v8::Object> v8_make_imports(v8::Local<v8::Context> context) {
  v8::Isolate* isolate = context->GetIsolate();
  auto imports = v8::Object::New(isolate);
  for (const HostImport& import : host_imports()) {
    auto module_name = v8_name(isolate, import.module);
    if (!imports->HasOwnProperty(context, module_name).FromJust()) imports->Set(context, module_name, v8::Object::New(isolate)).Check();
    auto module = imports->Get(context, module_name).ToLocalChecked().As<v8::Object>();
    auto data = v8::External::New(isolate, const_cast<HostImport*>(&import));
    auto function = v8::Function::New(context, on_call, data, 0, v8::ConstructorBehavior::kThrow).ToLocalChecked();
    module->Set(context, v8_name(isolate, import.name), function).Check();
  }
  return imports;
}

}  // namespace gw::isolate
