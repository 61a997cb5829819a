#include "toolchain/compiler.h"

#include <fmt/format.h>
#include <reserved_memory.h>
#include <algorithm>
#include <utility>

#include "os/process.h"
#include "prep/prep.h"
#include "toolchain/embedded_files.h"
#include "wire/wasm_binary.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

static_assert(GODWIT_UNWIND_BYTES == prep::kUnwindBytes, "the guest runtime reserves what the pre-processor uses");

constexpr std::size_t kMaxFileBytes = 256u << 20;
constexpr std::chrono::minutes kTimeout{10};

constexpr const char* kExpandedSource = "source";
constexpr const char* kSourceObject = "source.o";
constexpr const char* kRuntimeSource = "godwit_runtime.c";
constexpr const char* kRuntimeObject = "godwit_runtime.o";
constexpr const char* kLinkedModule = "linked.wasm";

// Where Debian's wasi-libc and libc++ put their headers. We name the folders instead of taking clang's default, because that ends with
// /usr/include: a header wasi-libc does not have would silently come from the host's C library.
constexpr const char* kCHeaders = "/usr/include/wasm32-wasi";
constexpr const char* kCxxHeaders = "/usr/include/wasm32-wasi/c++/v1";

const Words kTarget = {"--target=wasm32-wasi", "-O3", "-msimd128"};
const Words kC = {"-nostdlibinc", "-idirafter", kCHeaders};
const Words kCxx = {"-std=c++20", "-fignore-exceptions", "-nostdlibinc", "-isystem", kCxxHeaders, "-idirafter", kCHeaders};

// No -O here: with it clang runs whatever wasm-opt it finds over the result. The stack comes first, so that an overflow traps instead of
// running into the data; debug sections go, the names of functions stay for readable traps.
const Words kLink = {"--target=wasm32-wasi",          "-Wl,-z,stack-size=1048576",        "-Wl,--stack-first",
                     "-Wl,--export=godwit_poll_cell", "-Wl,--export=godwit_unwind_stack", "-Wl,--strip-debug"};

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

// Runs a tool; a result that is not success becomes "<what>:" and the tool's own words.
Result<os::ProcessResult> run_tool(Words argv, const fs::path& working_dir, const std::string& what) {
  os::ProcessRequest request{.argv = std::move(argv), .timeout = kTimeout, .working_dir = working_dir};
  request.env = {"SOURCE_DATE_EPOCH=0", "LC_ALL=C"};  // the same input gives the same bytes, also with __DATE__ in it
  auto result = os::run_process(request);
  if (!result && result.error().kind == Kind::not_found) {
    return fail(Kind::not_found, "{}: install clang-19, lld-19 and the packages for wasm32 (tools/setup does)", result.error().detail);
  }
  if (!result) return result;
  if (!result->succeeded()) return fail(Kind::invalid, "{}:\n{}{}", what, result->err, result->out);
  return result;
}

bool is_link_flag(const std::string& flag) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"-l", "-L", "-Wl,", "-Xlinker"},
                             [&](std::string_view prefix) { return flag.starts_with(prefix); });
}

// Flags that would change what is built instead of how.
bool is_ours(const std::string& flag) {
  static constexpr std::string_view kOurs[] = {"-c", "-S", "-E", "-o", "--target", "-target", "--no-wasm-opt", "-fwasm-exceptions"};
  return std::ranges::any_of(kOurs, [&](std::string_view ours) { return flag == ours || flag.starts_with(fmt::format("{}=", ours)); });
}

Status check_flag(const std::string& flag) {
  if (!flag.starts_with('-')) {
    return fail(Kind::invalid, "'{}' is not a compiler flag: flags begin with '-' and are one word each, like -Ifolder or -DNAME=1", flag);
  }
  if (is_ours(flag))
    return fail(Kind::invalid, "the compiler flag '{}' is not available: godwit build sets target, output and step itself", flag);
  return ok();
}

Status write_scratch(const fs::path& path, std::string_view text) {
  return os::write_file_atomic(path, as_bytes(text), os::Durability::unflushed);
}

std::string joined(const Words& words) { return fmt::format("{}\n", fmt::join(words, "\n")); }

}  // namespace

Result<Compilation> Compilation::start(fs::path source, Language language, Words extra_flags) {
  GW_TRY(os::TempDir dir, os::TempDir::make());
  Compilation compilation(std::move(dir), std::move(source), language);
  for (std::string& flag : extra_flags) {
    GW_TRY_VOID(check_flag(flag));
    (is_link_flag(flag) ? compilation.link_flags_ : compilation.compile_flags_).push_back(std::move(flag));
  }
  GW_TRY(auto version, run_tool({compilation.driver(), "--version"}, {}, "the compiler does not start"));
  compilation.settings_ = version.out + joined(kTarget) + joined(kC) + joined(kCxx) + joined(kLink) + joined(compilation.compile_flags_) +
                          joined(compilation.link_flags_);
  GW_TRY_VOID(compilation.write_sdk());
  return compilation;
}

std::string Compilation::driver() const { return language_ == Language::cxx ? "clang++-19" : "clang-19"; }

Words Compilation::compile_command() const {
  Words command = {driver(), "-isystem", (dir_.path() / "include").string()};
  append(command, kTarget);
  append(command, language_ == Language::cxx ? kCxx : kC);
  append(command, compile_flags_);
  command.insert(command.end(), {"-x", language_ == Language::cxx ? "c++" : "c"});
  return command;
}

Status Compilation::write_sdk() const {
  const fs::path include = dir_.path() / "include" / "godwit";
  std::error_code error;
  fs::create_directories(include, error);
  if (error) return fail(Kind::internal, "cannot create {}: {}", include.string(), error.message());
  GW_TRY_VOID(write_scratch(include / "godwit.h", guest_header()));
  GW_TRY_VOID(write_scratch(dir_.path() / "reserved_memory.h", reserved_memory_header()));
  return write_scratch(dir_.path() / kRuntimeSource, runtime_source());
}

Result<Bytes> Compilation::preprocess() {
  Words command = compile_command();
  const fs::path expanded = dir_.path() / kExpandedSource;
  append(command, {source_.string(), "-E", "-frewrite-includes", "-o", expanded.string()});
  GW_TRY_VOID(run_tool(std::move(command), {}, fmt::format("{} does not compile", source_.string())));
  GW_TRY(Bytes text, os::read_file(expanded, kMaxFileBytes));

  // Line markers name the folder of our own header, which is another one each time.
  std::string portable(as_text(text));
  const std::string here = dir_.path().string();
  for (std::size_t at = portable.find(here); at != std::string::npos; at = portable.find(here, at)) portable.erase(at, here.size());
  return Bytes(portable.begin(), portable.end());
}

Result<std::string> Compilation::compile_source() {
  Words command = compile_command();
  append(command, {kExpandedSource, "-c", "-o", kSourceObject});
  GW_TRY(auto result, run_tool(std::move(command), dir_.path(), fmt::format("{} does not compile", source_.string())));
  return std::move(result.err);
}

Status Compilation::compile_runtime() {
  Words command = {"clang-19"};
  append(command, kTarget);
  append(command, kC);
  append(command, {"-c", kRuntimeSource, "-o", kRuntimeObject});
  GW_TRY_VOID(run_tool(std::move(command), dir_.path(), "the guest runtime does not compile"));
  return ok();
}

Result<Bytes> Compilation::link() {
  Words command = {driver()};
  append(command, kLink);
  append(command, {kSourceObject, kRuntimeObject});
  append(command, link_flags_);
  append(command, {"-o", kLinkedModule});
  GW_TRY_VOID(run_tool(std::move(command), dir_.path(), fmt::format("{} does not link", source_.string())));
  return os::read_file(dir_.path() / kLinkedModule, kMaxFileBytes);
}

Result<Compilation::Linked> Compilation::compile_and_link() {
  Linked linked;
  GW_TRY(linked.warnings, compile_source());
  GW_TRY_VOID(compile_runtime());
  GW_TRY(linked.wasm, link());
  return linked;
}

}  // namespace gw::toolchain
