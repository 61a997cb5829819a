// Translation of V8's messages about traps.

#include <algorithm>
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

// The number at the start of `text`, which is cut off.
std::optional<std::uint32_t> take_number(std::string_view& text, int base) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// A line of a stack trace such as "    at f (wasm://wasm/0a1b:wasm-function[12]:0x3c)".
std::optional<CodePosition> position_in(std::string_view line) {
  constexpr std::string_view kMark = "wasm-function[", kBehindIndex = "]:0x";
  const std::size_t at = line.rfind(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kMark.size());
  const auto function = take_number(line, 10);
  if (!function || !line.starts_with(kBehindIndex)) return std::nullopt;
  line.remove_prefix(kBehindIndex.size());
  const auto offset = take_number(line, 16);
  if (!offset) return std::nullopt;
  return CodePosition{*function, *offset};
}

std::string property(v8::Local<v8::Context> context, v8::Local<v8::Value> object, std::string_view name) {
  v8::Local<v8::Value> value;
  if (!object->IsObject() || !object.As<v8::Object>()->Get(context, v8_name(context->GetIsolate(), name)).ToLocal(&value)) return "";
  return v8_text(context->GetIsolate(), value);
}

}  // namespace

std::vector<CodePosition> v8_frames(v8::Local<v8::Context> context, v8::Local<v8::Value> exception) {
  const std::string stack = property(context, exception, "stack");
  std::vector<CodePosition> frames;
  for (std::size_t start = 0; start < stack.size() && frames.size() < kMaxCapturedFrames;) {
    const std::size_t end = std::min(stack.find('\n', start), stack.size());
    if (const auto position = position_in(std::string_view(stack).substr(start, end - start))) frames.push_back(*position);
    start = end + 1;
  }
  return frames;
}

TrapReport v8_trap_report(v8::Local<v8::Context> context, v8::Local<v8::Value> exception) {
  std::string message = property(context, exception, "message");
  if (message.empty()) message = v8_text(context->GetIsolate(), exception);
  return TrapReport{kind_of(message), v8_frames(context, exception), std::move(message)};
}

}  // namespace gw::isolate
