#include "isolate/backtrace.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>

#include "isolate/module.h"
#include "wire/plain_text.h"
#include "wire/wasm/line_table.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::isolate {
namespace {

constexpr std::size_t kInnermost = 32, kOutermost = 8;
constexpr std::size_t kMaxNameBytes = 160, kMaxFileBytes = 120;
constexpr std::string_view kRewindSuffix = "$rewind";
constexpr std::string_view kOursPrefix = "gw$";  // functions that the pre-processor adds
constexpr std::string_view kHint = "\n  Build with --debug to see files and lines.";
constexpr std::string_view kUnwound = "\n  The exception left main. Build with --debug to see where it was thrown.";

struct Frame {
  std::string name;  // as in the name section, without the suffix of a rewind body
  std::optional<wire::SourceLine> line;
};

// Names of C functions stay: "f" would become float.
std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(text.get()) : name;
}

// clang's names of main, with and without parameters. libc's start calls the former by way of the latter.
bool is_main_with_arguments(const Frame& frame) { return frame.name == "__main_argc_argv" || frame.name == "main"; }
bool is_main(const Frame& frame) { return frame.name == "__original_main" || is_main_with_arguments(frame); }

std::string shown_name(const Frame& frame) { return wire::plain_text(is_main(frame) ? "main" : demangled(frame.name), kMaxNameBytes); }

// The end of a long path says more than its beginning.
std::string shown_file(std::string_view path) {
  const bool cut = path.size() > kMaxFileBytes;
  return (cut ? "..." : "") + wire::plain_text(cut ? path.substr(path.size() - kMaxFileBytes) : path, kMaxFileBytes);
}

std::string shown(const Frame& frame) {
  std::string text = "\n  at " + shown_name(frame);
  if (frame.line) text += fmt::format(" ({}:{})", shown_file(frame.line->file), frame.line->line);
  return text;
}

std::vector<Frame> frames_of(const Module& module, std::span<const CodePosition> positions) {
  // Damaged names and lines are as good as none.
  const auto names = wire::read_function_names(module.wasm());
  std::vector<std::uint32_t> offsets;
  for (const CodePosition& position : positions) offsets.push_back(position.offset);
  const auto lines = wire::find_lines(module.wasm(), offsets);
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    Frame frame;
    if (names && names->contains(positions[i].function)) frame.name = names->at(positions[i].function);
    if (frame.name.ends_with(kRewindSuffix)) frame.name.resize(frame.name.size() - kRewindSuffix.size());
    if (frame.name.starts_with(kOursPrefix)) continue;
    if (frame.name.empty()) frame.name = fmt::format("function[{}]", positions[i].function);
    if (lines) frame.line = (*lines)[i];
    frames.push_back(std::move(frame));
  }
  return frames;
}

// Frames outside of main are the same in every program.
void drop_start(std::vector<Frame>& frames) {
  auto main = std::ranges::find_if(frames.rbegin(), frames.rend(), is_main_with_arguments);
  if (main == frames.rend()) main = std::ranges::find_if(frames.rbegin(), frames.rend(), is_main);
  if (main != frames.rend()) frames.erase(main.base(), frames.end());
}

bool names_one_of(const Frame& frame, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, frame.name) != names.end();
}

// The functions of libc and our runtime by which a program ends or throws are the same in every backtrace.
void drop_inner(std::vector<Frame>& frames, InnerFrames inner) {
  constexpr std::size_t kMostDropped = 12;
  const auto range = std::span(frames).first(std::min(frames.size(), kMostDropped));
  for (std::size_t i = range.size(); inner != InnerFrames::program && i-- > 0;) {
    const bool is_throw = inner == InnerFrames::throw_ && range[i].name == "__cxa_throw";
    const bool is_end = inner == InnerFrames::abort && names_one_of(range[i], {"abort", "raise", "_Exit", "__wasi_proc_exit"});
    if (!is_throw && !is_end) continue;
    frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(is_throw ? i + 1 : i));
    return;
  }
}

// An exception that leaves main takes the frames with it before anyone knows that nobody catches it.
bool is_unwound(const std::vector<Frame>& frames) {
  return std::ranges::none_of(frames, is_main) && std::ranges::find(frames, "godwit_run_program", &Frame::name) != frames.end();
}

// Equal lines that follow each other become one.
std::vector<std::string> lines_of(const std::vector<Frame>& frames) {
  std::vector<std::string> lines;
  std::string last;
  std::size_t times = 0;
  const auto finish = [&] {
    if (times > 1) lines.back() += fmt::format(", {} times", times);
  };
  for (const Frame& frame : frames) {
    std::string line = shown(frame);
    if (line == last) {
      ++times;
      continue;
    }
    finish();
    lines.push_back(line);
    last = std::move(line);
    times = 1;
  }
  finish();
  return lines;
}

// The innermost lines, as many as fit, and the outermost ones, if the engine has seen them.
std::string both_ends(const std::vector<std::string>& lines, bool complete, std::string_view hint) {
  constexpr std::string_view kCut = "\n  ...", kMore = "\n  and more";
  const std::size_t outermost = complete && lines.size() > kInnermost ? std::min(kOutermost, lines.size() - kInnermost) : 0;
  std::string end;
  for (std::size_t i = lines.size() - outermost; i < lines.size(); ++i) end += lines[i];
  if (!complete) end += kMore;
  end += hint;
  std::string text;
  std::size_t used = 0;
  const std::size_t innermost = std::min(kInnermost, lines.size() - outermost);
  while (used < innermost && text.size() + lines[used].size() + kCut.size() + end.size() <= kMaxBacktraceBytes) text += lines[used++];
  if (complete && used + outermost < lines.size()) text += kCut;
  return text + end;
}

}  // namespace

Backtrace backtrace_of(const Module& module, std::span<const CodePosition> positions, InnerFrames inner) {
  std::vector<Frame> frames = frames_of(module, positions);
  drop_inner(frames, inner);
  if (frames.empty()) return {};
  if (inner == InnerFrames::abort && is_unwound(frames)) return {.function = {}, .lines = std::string(kUnwound)};
  drop_start(frames);
  const bool has_lines = std::ranges::any_of(frames, [](const Frame& frame) { return frame.line.has_value(); });
  return {.function = shown_name(frames.front()),
          .lines = both_ends(lines_of(frames), positions.size() < kMaxCapturedFrames, has_lines ? std::string_view() : kHint)};
}

}  // namespace gw::isolate
