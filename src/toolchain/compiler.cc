#include "toolchain/compiler.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "os/process/process.h"
#include "toolchain/bitcode.h"
#include "toolchain/guest_runtime.h"
#include "toolchain/parallel.h"
#include "toolchain/thread_locals.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 256u << 20;

std::string expanded_name(std::size_t index) { return fmt::format("source{}", index); }
std::string bitcode_name(std::size_t index) { return fmt::format("source{}.bc", index); }
std::string object_name(std::size_t index) { return fmt::format("source{}.o", index); }
constexpr const char* kLinkedModule = "linked.wasm";

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
    if (flag == "-pthread") continue;  // guest threads need no flag, and clang would use the instructions of wasm threads
    GW_TRY_VOID(check_flag(flag));
    (is_link_flag(flag) ? compilation.link_flags_ : compilation.compile_flags_).push_back(std::move(flag));
  }
  compilation.exceptions_ = exceptions_of(compilation.compile_flags_);
  compilation.debug_info_ = debug_info_of(compilation.compile_flags_);
  GW_TRY(auto version, run_tool({driver_of(compilation.language()), "--version"}, {}, "the compiler does not start"));
  compilation.compiler_version_ = version.out;
  compilation.settings_ = version.out + joined(compilation.compile_flags_) + joined(compilation.link_flags_);
  GW_TRY_VOID(write_guest_sdk(compilation.dir_.path()));
  return compilation;
}

Language Compilation::language() const {
  const bool any_cxx = std::ranges::find(sources_, Language::cxx, &Source::language) != sources_.end();
  return any_cxx ? Language::cxx : Language::c;
}

LibraryUse Compilation::library_use() const {
  const auto includes = [&](std::string_view header) {
    return std::ranges::any_of(files_, [&](const fs::path& file) { return file.native().ends_with(header); });
  };
  return {.file_streams = includes("/c++/v1/fstream"),
          .file_system = includes("/c++/v1/__filesystem/operations.h"),
          .threads = includes("/c++/v1/__mutex/mutex.h") || includes("/c++/v1/__atomic/atomic_sync.h"),
          .throw_marks = debug_info_ == DebugInfo::on};
}

bool Compilation::goes_through_bitcode(std::size_t index) const {
  return sources_[index].language == Language::cxx || mentions_thread_locals_[index];
}

Words Compilation::command_for(Language language, Step step) const {
  Words command = compile_command(language, exceptions_, sdk_headers(dir_.path()));
  for (const std::string& flag : compile_flags_)
    if (step == Step::expand || !brings_a_file(flag)) command.push_back(flag);
  // Our folder is another one each time; the same input gives the same bytes.
  if (debug_info_ == DebugInfo::on)
    append(command, {"-fdebug-compilation-dir=.", fmt::format("-fdebug-prefix-map={}=godwit", dir_.path().string())});
  append(command, {"-x", language == Language::cxx ? "c++" : "c"});
  return command;
}

Result<Compilation::Expanded> Compilation::preprocess_source(std::size_t index) const {
  const Source& source = sources_[index];
  Words command = command_for(source.language, Step::expand);
  const fs::path expanded = dir_.path() / expanded_name(index);
  append(command, {source.path.string(), "-E", "-frewrite-includes", "-o", expanded.string()});
  GW_TRY_VOID(run_tool(std::move(command), {}, fmt::format("{} does not compile", source.path.string())));
  GW_TRY(Bytes text, os::read_file(expanded, kMaxFileBytes));

  // Line markers name the folder of our own header, which is another one each time.
  std::string portable(as_text(text));
  const std::string here = dir_.path().string();
  for (std::size_t at = portable.find(here); at != std::string::npos; at = portable.find(here, at)) portable.erase(at, here.size());
  Expanded result{sha256(as_bytes(portable)), files_in(as_text(text), here), mentions_thread_locals(portable)};
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
  mentions_thread_locals_.clear();
  for (Expanded& one : expanded) {
    files.merge(one.files);
    mentions_thread_locals_.push_back(one.mentions_thread_locals);
  }
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
  Words command = command_for(source.language, Step::compile);
  append(command, {expanded_name(index), "-c"});
  if (goes_through_bitcode(index)) append(command, bitcode_flags(source.language));
  append(command, {"-o", goes_through_bitcode(index) ? bitcode_name(index) : object_name(index)});
  GW_TRY(auto result, run_tool(std::move(command), dir_.path(), fmt::format("{} does not compile", source.path.string())));
  return std::move(result.err);
}

Status Compilation::generate_object(std::size_t index) const {
  Words command = generate_command(exceptions_);
  append(command, compile_flags_);
  append(command, {"-c", bitcode_name(index), "-o", object_name(index)});
  GW_TRY_VOID(run_tool(std::move(command), dir_.path(), fmt::format("{} does not compile", sources_[index].path.string())));
  return ok();
}

Result<Bytes> Compilation::link() const {
  Words command = link_command(language(), exceptions_, debug_info_);
  for (std::size_t i = 0; i < sources_.size(); ++i) command.push_back(object_name(i));
  append(command, runtime_parts(language(), exceptions_, library_use()).link_words(dir_.path()));
  append(command, link_flags_);
  append(command, link_tail());
  append(command, {"-o", kLinkedModule});
  const std::string what = sources_.size() == 1 ? sources_[0].path.string() : fmt::format("the program of {} sources", sources_.size());
  const auto linked = run_tool(std::move(command), dir_.path(), fmt::format("{} does not link", what));
  if (!linked && lacks_filesystem(linked.error().detail))
    return fail(Kind::invalid, "{}\nGodwit was built without std::filesystem: run tools/fetch_libcxx, then build it again",
                linked.error().detail);
  if (!linked) return linked.error();
  return os::read_file(dir_.path() / kLinkedModule, kMaxFileBytes);
}

Result<Compilation::Linked> Compilation::compile_and_link(const BuildCache& cache) {
  const Words runtime = runtime_parts(language(), exceptions_, library_use()).sources();
  std::vector<std::string> warnings(sources_.size());
  GW_TRY_VOID(for_each_in_parallel(sources_.size() + runtime.size(), [&](std::size_t index) -> Status {
    if (index >= sources_.size())
      return compile_runtime_source(cache, dir_.path(), runtime[index - sources_.size()], exceptions_, compiler_version_);
    GW_TRY(warnings[index], compile_source(index));
    return ok();
  }));
  std::vector<std::size_t> through_bitcode;
  std::vector<fs::path> bitcode;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!goes_through_bitcode(i)) continue;
    through_bitcode.push_back(i);
    bitcode.push_back(dir_.path() / bitcode_name(i));
  }
  GW_TRY_VOID(rewrite_bitcode(bitcode));
  GW_TRY_VOID(for_each_in_parallel(through_bitcode.size(), [&](std::size_t i) { return generate_object(through_bitcode[i]); }));
  GW_TRY(Bytes wasm, link());
  return Linked{std::move(wasm), fmt::format("{}", fmt::join(warnings, ""))};
}

}  // namespace gw::toolchain
