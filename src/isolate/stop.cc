#include "isolate/stop.h"

#include <fmt/format.h>

namespace gw::isolate {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

std::string_view describe(const Wait& wait) {
  return std::visit(Overloaded{
                        [](const SleepUntil&) { return "parked until a time"; },
                        [](const AwaitInput&) { return "parked until there is input"; },
                        [](const AtCheckpoint&) { return "parked at a checkpoint"; },
                        [](const ForkRequested&) { return "parked to be forked"; },
                        [](const AwaitRoom&) { return "parked until there is room for what it does"; },
                        [](const AwaitMail&) { return "parked until there is a message"; },
                        [](const AwaitChunk&) { return "parked until a part of an input file is there"; },
                    },
                    wait);
}

}  // namespace

std::string_view name(TrapKind kind) {
  switch (kind) {
    case TrapKind::unreachable:
      return "unreachable code executed";
    case TrapKind::memory_out_of_bounds:
      return "memory access out of bounds";
    case TrapKind::table_out_of_bounds:
      return "table access out of bounds";
    case TrapKind::indirect_call_mismatch:
      return "indirect call of a null function or one of another type";
    case TrapKind::divide_by_zero:
      return "integer divide by zero";
    case TrapKind::integer_overflow:
      return "integer overflow in a division";
    case TrapKind::invalid_float_conversion:
      return "float not representable as integer";
    case TrapKind::stack_overflow:
      return "call stack exhausted";
    case TrapKind::memory_stack_overflow:
      return "stack overflow: its stack is used up; link it with a larger one, for example --cflag=-Wl,-z,stack-size=67108864";
    case TrapKind::host_failure:
      return "host function failed";
    case TrapKind::other:
      return "trap";
  }
  return "trap";
}

bool can_resume(const Stop& stop) { return std::holds_alternative<Suspended>(stop) || std::holds_alternative<Parked>(stop); }

std::string describe(const Stop& stop) {
  return std::visit(Overloaded{
                        [](const Suspended&) { return std::string("suspended"); },
                        [](const Parked& parked) { return std::string(describe(parked.on)); },
                        [](const Exited& exited) { return fmt::format("exited with code {}", exited.code); },
                        [](const Trapped& trapped) {
                          std::string text = "trapped";
                          if (!trapped.function.empty()) text += " in " + trapped.function;
                          text += fmt::format(": {}", name(trapped.kind));
                          if (trapped.kind == TrapKind::other || trapped.kind == TrapKind::host_failure) text += ": " + trapped.message;
                          return text;
                        },
                        [](const LimitReached& limit) { return "ended: " + limit.sentence; },
                        [](const Terminated&) { return std::string("terminated"); },
                    },
                    stop);
}

std::string explain(const Stop& stop) {
  if (const auto* exited = std::get_if<Exited>(&stop)) {
    if (exited->backtrace.empty()) return {};
    return fmt::format("{} ({}){}", describe(stop), fatal_signal(exited->code), exited->backtrace);
  }
  const auto* trapped = std::get_if<Trapped>(&stop);
  const auto* limit = std::get_if<LimitReached>(&stop);
  return describe(stop) + (trapped ? trapped->backtrace : limit ? limit->backtrace : "");
}

std::string_view fatal_signal(std::uint32_t exit_code) {
  switch (exit_code) {
    case 132:
      return "SIGILL";
    case 133:
      return "SIGTRAP";
    case 134:
      return "SIGABRT";
    case 135:
      return "SIGBUS";
    case 136:
      return "SIGFPE";
    case 139:
      return "SIGSEGV";
    case 159:
      return "SIGSYS";
    default:
      return {};
  }
}

}  // namespace gw::isolate
