// Translation of V8's messages about traps.

#include <array>
#include <charconv>

#include "isolate/engine/v8_heap.h"

namespace gw::isolate {
namespace {

struct KnownMessage {
  std::string_view text;
  TrapKind kind;
};

// The messages of V8 10.2; the only way it tells traps apart.
constexpr std::array kKnownMessages = {
    KnownMessage{"unreachable", TrapKind::unreachable},
    KnownMessage{"memory access out of bounds", TrapKind::memory_out_of_bounds},
    KnownMessage{"divide by zero", TrapKind::divide_by_zero},
    KnownMessage{"remainder by zero", TrapKind::divide_by_zero},
    KnownMessage{"divide result unrepresentable", TrapKind::integer_overflow},
    KnownMessage{"float unrepresentable in integer range", TrapKind::invalid_float_conversion},
    KnownMessage{"table index is out of bounds", TrapKind::table_out_of_bounds},
    KnownMessage{"null function or function signature mismatch", TrapKind::indirect_call_mismatch},
    KnownMessage{"Maximum call stack size exceeded", TrapKind::stack_overflow},
};

TrapKind kind_of(std::string_view message) {
  for (const KnownMessage& known : kKnownMessages) {
    if (message == known.text) return known.kind;
  }
  return TrapKind::other;
}

// The innermost frame in a stack trace such as "... at f (wasm://wasm/0a1b:wasm-function[12]:0x3c)".
std::optional<std::uint32_t> function_in(std::string_view stack) {
  constexpr std::string_view kMark = "wasm-function[";
  std::size_t at = stack.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view digits = stack.substr(at + kMark.size());
  std::uint32_t index = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc()) return std::nullopt;
  return index;
}

std::string property(v8::Local<v8::Context> context, v8::Local<v8::Value> object, std::string_view name) {
  v8::Local<v8::Value> value;
  if (!object->IsObject() || !object.As<v8::Object>()->Get(context, v8_name(context->GetIsolate(), name)).ToLocal(&value)) return "";
  return v8_text(context->GetIsolate(), value);
}

}  // namespace

TrapReport v8_trap_report(v8::Local<v8::Context> context, v8::Local<v8::Value> exception) {
  std::string message = property(context, exception, "message");
  if (message.empty()) message = v8_text(context->GetIsolate(), exception);
  return TrapReport{kind_of(message), function_in(property(context, exception, "stack")), std::move(message)};
}

}  // namespace gw::isolate
