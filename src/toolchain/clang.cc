#include "toolchain/clang.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kTimeout{10};

constexpr const char* kCDriver = "clang-19";
constexpr const char* kCxxDriver = "clang++-19";

// Where Debian's wasi-libc and libc++ put their headers. We name the folders instead of taking clang's default, because that ends with
// /usr/include: a header wasi-libc does not have would silently come from the host's C library.
constexpr const char* kCHeaders = "/usr/include/wasm32-wasi";
constexpr const char* kCxxHeaders = "/usr/include/wasm32-wasi/c++/v1";

// The flags of every step that generates code. setjmp is done with wasm exceptions; code without setjmp is not changed by that.
const Words kTarget = {"--target=wasm32-wasi", "-O3", "-msimd128", "-mllvm", "-wasm-enable-sjlj"};
const Words kThrowing = {"-fwasm-exceptions"};
// Clang makes static objects safe for threads only where the target has atomic instructions. Guest threads need none, so they are hidden
// from programs here and from the second half of clang in bitcode.cc; the optimiser goes on as for one thread.
const Words kThreadSafe = {"-matomics", "-mbulk-memory", "-mthread-model", "single", "-U__wasm_atomics__", "-U__wasm_bulk_memory__"};
// Programs that call clock(), mmap() or getpid() build: wasi-libc has a stand-in for each, which must be asked for. Signals are ours
// (sdk/guest/runtime/signals.c).
const Words kStandInMacros = {"-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_PROCESS_CLOCKS", "-D_WASI_EMULATED_MMAN",
                              "-D_WASI_EMULATED_GETPID"};
// wasi-libc's printf and scanf end the program at a long double, unless the larger ones are asked for.
const Words kStandIns = {"-lc-printscan-long-double", "-lwasi-emulated-process-clocks", "-lwasi-emulated-mman", "-lwasi-emulated-getpid"};
const Words kC = {"-nostdlibinc", "-idirafter", kCHeaders};
const Words kCxx = {"-std=c++20", "-nostdlibinc", "-isystem", kCxxHeaders, "-idirafter", kCHeaders};

// No -O here: with it clang runs whatever wasm-opt it finds over the result. The stack comes first, so that an overflow traps instead of
// running into the data; the runtime has a start of its own. What is wrapped: sdk/guest/runtime/system.c.
const Words kLink = {"--target=wasm32-wasi",          "-nostartfiles",        "-Wl,-z,stack-size=8388608", "-Wl,--stack-first",
                     "-Wl,--export=godwit_poll_cell", "-Wl,--wrap=setlocale", "-Wl,--wrap=newlocale",      "-Wl,--wrap=fcntl"};
// The names of functions stay.
const Words kStrip = {"-Wl,--strip-debug"};
// sdk/guest/runtime/library_exceptions.cc has the function that is meant.
const Words kLinkThrowing = {"-Wl,--wrap=_ZNSt3__28ios_base33__set_badbit_and_consider_rethrowEv"};

// Flags that would change what is built instead of how.
bool is_ours(const std::string& flag) {
  static constexpr std::string_view kOurs[] = {"-c", "-S", "-E", "-o", "--target", "-target", "--no-wasm-opt"};
  return std::ranges::any_of(kOurs, [&](std::string_view ours) { return flag == ours || flag.starts_with(fmt::format("{}=", ours)); });
}

}  // namespace

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

Result<os::ProcessResult> run_tool(Words argv, const fs::path& working_dir, const std::string& what) {
  os::ProcessRequest request{.argv = std::move(argv), .timeout = kTimeout, .working_dir = working_dir};
  request.env = {"SOURCE_DATE_EPOCH=0", "LC_ALL=C"};  // the same input gives the same bytes, also with __DATE__ in it
  auto result = os::run_process(request);
  if (!result && result.error().kind == Kind::not_found) {
    return fail(Kind::not_found, "{}: install clang-19, lld-19 and the wasm32 packages with tools/setup", result.error().detail);
  }
  if (!result) return result;
  if (!result->succeeded()) return fail(Kind::invalid, "{}:\n{}{}", what, result->err, result->out);
  return result;
}

std::string driver_of(Language language) { return language == Language::cxx ? kCxxDriver : kCDriver; }

Words compile_command(Language language, Exceptions exceptions, const fs::path& sdk_headers) {
  Words command = {driver_of(language), "-isystem", sdk_headers.string()};
  append(command, kTarget);
  append(command, kStandInMacros);
  append(command, language == Language::cxx ? kCxx : kC);
  if (language == Language::cxx) append(command, exceptions == Exceptions::on ? kThrowing : Words{"-fno-exceptions"});
  return command;
}

Words bitcode_flags(Language language) {
  Words flags = language == Language::cxx ? kThreadSafe : Words{};
  flags.emplace_back("-emit-llvm");
  return flags;
}

Words generate_command(Exceptions exceptions) {
  Words command = {kCxxDriver};
  append(command, kTarget);
  if (exceptions == Exceptions::on) append(command, kThrowing);
  append(command, {"-Xclang", "-disable-llvm-passes", "-Wno-unused-command-line-argument"});
  return command;
}

Words link_command(Language language, Exceptions exceptions, DebugInfo debug_info) {
  Words command = {driver_of(language)};
  append(command, kLink);
  if (debug_info == DebugInfo::off) append(command, kStrip);
  if (language == Language::cxx && exceptions == Exceptions::on) append(command, kLinkThrowing);
  return command;
}

Words link_tail() { return kStandIns; }

bool is_link_flag(const std::string& flag) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"-l", "-L", "-Wl,", "-Xlinker"},
                             [&](std::string_view prefix) { return flag.starts_with(prefix); });
}

bool brings_a_file(const std::string& flag) { return flag.starts_with("-include") || flag.starts_with("-imacros"); }

Status check_flag(const std::string& flag) {
  if (!flag.starts_with('-')) {
    return fail(Kind::invalid, "'{}' is not a compiler flag: flags begin with '-' and are one word each, like -Ifolder or -DNAME=1", flag);
  }
  if (is_ours(flag))
    return fail(Kind::invalid, "the compiler flag '{}' is not available: godwit build sets target, output and step itself", flag);
  return ok();
}

Exceptions exceptions_of(const Words& flags) {
  Exceptions exceptions = Exceptions::on;
  for (const std::string& flag : flags) {
    if (flag == "-fno-exceptions") exceptions = Exceptions::off;
    if (flag == "-fexceptions" || flag == "-fcxx-exceptions") exceptions = Exceptions::on;
  }
  return exceptions;
}

DebugInfo debug_info_of(const Words& flags) {
  DebugInfo debug_info = DebugInfo::off;
  for (const std::string& flag : flags)
    if (flag.starts_with("-g")) debug_info = flag == "-g0" ? DebugInfo::off : DebugInfo::on;
  return debug_info;
}

Words debug_flags() { return {"-gline-tables-only", "-O0"}; }

std::vector<fs::path> compiler_programs() {
  std::vector<fs::path> found;
  const char* const path = std::getenv("PATH");
  std::stringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    for (const char* program : {kCDriver, kCxxDriver, "wasm-ld-19"}) {
      std::error_code error;
      if (fs::exists(fs::path(folder) / program, error)) found.push_back(fs::path(folder) / program);
    }
  }
  return found;
}

}  // namespace gw::toolchain
