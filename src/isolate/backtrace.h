#pragma once
// Where a program was when it ended, in words.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gw::isolate {

class Module;

// A place in the code of a running guest.
struct CodePosition {
  std::uint32_t function;  // index
  std::uint32_t offset;    // of the instruction, from the start of the module
};

// Frames that an engine is asked for. A program that recurses without end has more.
inline constexpr std::size_t kMaxCapturedFrames = 256;

// The calls that led somewhere, for people.
struct Backtrace {
  // Of the innermost function: "sort(int*, int)" from the name section, demangled; else "function[12]". Empty: nothing is known.
  std::string function;
  // A line per frame, innermost first, each behind a newline and two spaces: "\n  at sort(int*, int) (sort.cc:12)". At most
  // kMaxBacktraceBytes. The last line says how to see lines of the source, if none can be seen.
  std::string lines;
};

inline constexpr std::size_t kMaxBacktraceBytes = 3072;

// The subject of the innermost frames, which are left out: nothing, abort() and what is below it, or the throw of an exception.
enum class InnerFrames : std::uint8_t { program, abort, throw_ };

// `positions`: innermost first. Functions that the pre-processor or the runtime added around the program are left out.
Backtrace backtrace_of(const Module& module, std::span<const CodePosition> positions, InnerFrames inner = InnerFrames::program);

}  // namespace gw::isolate
