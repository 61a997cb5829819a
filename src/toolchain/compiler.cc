#include "toolchain/compiler.h"

#include <fmt/format.h>
#include <reserved_memory.h>
#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "os/process.h"
#include "prep/prep.h"
#include "toolchain/embedded_files.h"
#include "toolchain/parallel.h"
#include "wire/wasm_binary.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

static_assert(GODWIT_UNWIND_BYTES == prep::kUnwindBytes, "the guest runtime reserves what the pre-processor uses");

constexpr std::size_t kMaxFileBytes = 256u << 20;
constexpr std::chrono::minutes kTimeout{10};

constexpr const char* kCDriver = "clang-19";
constexpr const char* kCxxDriver = "clang++-19";

std::string expanded_name(std::size_t index) { return fmt::format("source{}", index); }
std::string object_name(std::size_t index) { return fmt::format("source{}.o", index); }
constexpr const char* kRuntimeSource = "godwit_runtime.c";
constexpr const char* kRuntimeObject = "godwit_runtime.o";
constexpr const char* kLinkedModule = "linked.wasm";

// Where Debian's wasi-libc and libc++ put their headers. We name the folders instead of taking clang's default, because that ends with
// /usr/include: a header wasi-libc does not have would silently come from the host's C library.
constexpr const char* kCHeaders = "/usr/include/wasm32-wasi";
constexpr const char* kCxxHeaders = "/usr/include/wasm32-wasi/c++/v1";

// Programs that call signal(), clock(), mmap() or getpid() build: wasi-libc has a stand-in for each, which must be asked for.
const Words kTarget = {
    "--target=wasm32-wasi",   "-O3", "-msimd128", "-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_PROCESS_CLOCKS", "-D_WASI_EMULATED_MMAN",
    "-D_WASI_EMULATED_GETPID"};
const Words kStandIns = {"-lwasi-emulated-signal", "-lwasi-emulated-process-clocks", "-lwasi-emulated-mman", "-lwasi-emulated-getpid"};
const Words kC = {"-nostdlibinc", "-idirafter", kCHeaders};
const Words kCxx = {"-std=c++20", "-fignore-exceptions", "-nostdlibinc", "-isystem", kCxxHeaders, "-idirafter", kCHeaders};

// No -O here: with it clang runs whatever wasm-opt it finds over the result. The stack comes first, so that an overflow traps instead of
// running into the data; the runtime has a start of its own; debug sections go, the names of functions stay for readable traps.
const Words kLink = {"--target=wasm32-wasi",
                     "-nostartfiles",
                     "-Wl,-z,stack-size=1048576",
                     "-Wl,--stack-first",
                     "-Wl,--export=godwit_poll_cell",
                     "-Wl,--export=godwit_unwind_stack",
                     "-Wl,--strip-debug"};

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

// Runs a tool; a result that is not success becomes "<what>:" and the tool's own words.
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

// The files that line markers name, `# 12 "name" 1 3`, but for those under `without`.
std::set<std::string> files_in(std::string_view expanded, const std::string& without) {
  std::set<std::string> files;
  for (std::size_t at = 0; at < expanded.size();) {
    const std::string_view line = expanded.substr(at, expanded.find('\n', at) - at);
    at += line.size() + 1;
    if (!line.starts_with("# ") || line.size() < 3 || line[2] < '0' || line[2] > '9') continue;
    const std::size_t first = line.find('"'), last = line.rfind('"');
    if (first == last) continue;
    std::string name;
    for (std::size_t i = first + 1; i < last; ++i) name += line[i] == '\\' && i + 1 < last ? line[++i] : line[i];
    if (!name.starts_with('<') && !name.starts_with(without)) files.insert(std::move(name));
  }
  return files;
}

std::string joined(const Words& words) { return fmt::format("{}\n", fmt::join(words, "\n")); }

}  // namespace

Result<Compilation> Compilation::start(std::vector<Source> sources, Words extra_flags) {
  GW_ASSERT(!sources.empty());
  if (sources.size() > kMaxSources) return fail(Kind::invalid, "too many sources: {}; the limit is {}", sources.size(), kMaxSources);
  GW_TRY(os::TempDir dir, os::TempDir::make());
  Compilation compilation(std::move(dir), std::move(sources));
  for (std::string& flag : extra_flags) {
    GW_TRY_VOID(check_flag(flag));
    (is_link_flag(flag) ? compilation.link_flags_ : compilation.compile_flags_).push_back(std::move(flag));
  }
  GW_TRY(auto version, run_tool({compilation.driver(), "--version"}, {}, "the compiler does not start"));
  compilation.settings_ = version.out + joined(kTarget) + joined(kC) + joined(kCxx) + joined(kLink) + joined(kStandIns) +
                          joined(compilation.compile_flags_) + joined(compilation.link_flags_);
  GW_TRY_VOID(compilation.write_sdk());
  return compilation;
}

std::string Compilation::driver() const {
  const bool any_cxx = std::ranges::find(sources_, Language::cxx, &Source::language) != sources_.end();
  return any_cxx ? kCxxDriver : kCDriver;
}

Words Compilation::compile_command(Language language) const {
  const bool cxx = language == Language::cxx;
  Words command = {cxx ? kCxxDriver : kCDriver, "-isystem", (dir_.path() / "include").string()};
  append(command, kTarget);
  append(command, cxx ? kCxx : kC);
  append(command, compile_flags_);
  append(command, {"-x", cxx ? "c++" : "c"});
  return command;
}

Status Compilation::write_sdk() const {
  const fs::path include = dir_.path() / "include" / "godwit";
  std::error_code error;
  fs::create_directories(include, error);
  if (error) return fail(Kind::internal, "cannot create {}: {}", include.string(), error.message());
  GW_TRY_VOID(write_scratch(include / "godwit.h", guest_header()));
  GW_TRY_VOID(write_scratch(include / "task.h", guest_task_header()));
  GW_TRY_VOID(write_scratch(include / "godwit.hpp", guest_cxx_header()));
  GW_TRY_VOID(write_scratch(include / "task.hpp", guest_cxx_task_header()));
  GW_TRY_VOID(write_scratch(dir_.path() / "reserved_memory.h", reserved_memory_header()));
  return write_scratch(dir_.path() / kRuntimeSource, runtime_source());
}

Result<Compilation::Expanded> Compilation::preprocess_source(std::size_t index) const {
  const Source& source = sources_[index];
  Words command = compile_command(source.language);
  const fs::path expanded = dir_.path() / expanded_name(index);
  append(command, {source.path.string(), "-E", "-frewrite-includes", "-o", expanded.string()});
  GW_TRY_VOID(run_tool(std::move(command), {}, fmt::format("{} does not compile", source.path.string())));
  GW_TRY(Bytes text, os::read_file(expanded, kMaxFileBytes));

  // Line markers name the folder of our own header, which is another one each time.
  std::string portable(as_text(text));
  const std::string here = dir_.path().string();
  for (std::size_t at = portable.find(here); at != std::string::npos; at = portable.find(here, at)) portable.erase(at, here.size());
  Expanded result{sha256(as_bytes(portable)), files_in(as_text(text), here)};
  result.files.insert(source.path.string());
  return result;
}

Result<Hash256> Compilation::preprocess() {
  std::vector<Expanded> expanded(sources_.size());
  GW_TRY_VOID(for_each_in_parallel(sources_.size(), [&](std::size_t index) -> Status {
    GW_TRY(expanded[index], preprocess_source(index));
    return ok();
  }));
  std::set<std::string> files;
  for (Expanded& one : expanded) files.merge(one.files);
  files_.assign(files.begin(), files.end());
  Sha256 all;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    all.update(expanded[i].hash.bytes);
    all.update(as_bytes(sources_[i].language == Language::cxx ? "c++" : "c  "));
  }
  return all.finish();
}

Result<std::string> Compilation::compile_source(std::size_t index) const {
  const Source& source = sources_[index];
  Words command = compile_command(source.language);
  append(command, {expanded_name(index), "-c", "-o", object_name(index)});
  GW_TRY(auto result, run_tool(std::move(command), dir_.path(), fmt::format("{} does not compile", source.path.string())));
  return std::move(result.err);
}

Status Compilation::compile_runtime() const {
  Words command = {kCDriver};
  append(command, kTarget);
  append(command, kC);
  append(command, {"-c", kRuntimeSource, "-o", kRuntimeObject});
  GW_TRY_VOID(run_tool(std::move(command), dir_.path(), "the guest runtime does not compile"));
  return ok();
}

Result<Bytes> Compilation::link() const {
  Words command = {driver()};
  append(command, kLink);
  for (std::size_t i = 0; i < sources_.size(); ++i) command.push_back(object_name(i));
  command.push_back(kRuntimeObject);
  append(command, link_flags_);
  append(command, kStandIns);
  append(command, {"-o", kLinkedModule});
  const std::string what = sources_.size() == 1 ? sources_[0].path.string() : fmt::format("the program of {} sources", sources_.size());
  GW_TRY_VOID(run_tool(std::move(command), dir_.path(), fmt::format("{} does not link", what)));
  return os::read_file(dir_.path() / kLinkedModule, kMaxFileBytes);
}

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

Result<Compilation::Linked> Compilation::compile_and_link() {
  std::vector<std::string> warnings(sources_.size());
  GW_TRY_VOID(for_each_in_parallel(sources_.size() + 1, [&](std::size_t index) -> Status {
    if (index == sources_.size()) return compile_runtime();
    GW_TRY(warnings[index], compile_source(index));
    return ok();
  }));
  GW_TRY(Bytes wasm, link());
  return Linked{std::move(wasm), fmt::format("{}", fmt::join(warnings, ""))};
}

}  // namespace gw::toolchain
