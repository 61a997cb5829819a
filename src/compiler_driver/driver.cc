#include "compiler_driver/driver.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "os/files/file.h"
#include "toolchain/bitcode.h"
#include "toolchain/guest_runtime.h"
#include "toolchain/launcher.h"
#include "toolchain/thread_locals.h"

namespace gw::compiler_driver {
namespace {

namespace fs = std::filesystem;
using toolchain::append;
using toolchain::Exceptions;

constexpr std::size_t kMaxModuleBytes = 256u << 20;

class Driver {
 public:
  Driver(const Arguments& arguments, Language driver, os::TempDir folder)
      : arguments_(arguments), driver_(driver), exceptions_(toolchain::exceptions_of(arguments.compile)), folder_(std::move(folder)) {}

  Status compile_all() {
    for (const Arguments::Source& source : arguments_.sources) {
      const std::string object = arguments_.output.value_or(fs::path(source.path).filename().replace_extension(".o").string());
      GW_TRY_VOID(compile(source, object));
    }
    return ok();
  }

  Status link() {
    Words objects;
    for (std::size_t i = 0; i < arguments_.sources.size(); ++i) {
      objects.push_back((folder_.path() / fmt::format("source{}.o", i)).string());
      GW_TRY_VOID(compile(arguments_.sources[i], objects.back()));
    }
    GW_TRY(const Words runtime, compile_runtime());
    const fs::path module = folder_.path() / "linked.wasm";
    Words command = toolchain::link_command(driver_, exceptions_, toolchain::DebugInfo::off);
    append(command, objects);
    append(command, arguments_.link);
    append(command, runtime);
    append(command, toolchain::link_tail());
    append(command, {"-o", module.string()});
    GW_TRY_VOID(run(std::move(command)));
    GW_TRY(const Bytes wasm, os::read_file(module, kMaxModuleBytes));
    return write_program(arguments_.output.value_or("a.out"), wasm);
  }

 private:
  static Status run(Words command) {
    GW_TRY(const auto result, toolchain::run_tool(std::move(command), {}, "the compiler failed"));
    fmt::print(stdout, "{}", result.out);
    fmt::print(stderr, "{}", result.err);
    return ok();
  }

  Status compile(const Arguments::Source& source, const std::string& object) {
    const std::string bitcode = (folder_.path() / "source.bc").string();
    Words command = toolchain::compile_command(source.language, exceptions_, toolchain::sdk_headers(folder_.path()));
    append(command, arguments_.compile);
    append(command, {"-x", source.language == Language::cxx ? "c++" : "c"});
    const bool through_bitcode = source.language == Language::cxx || mentions_thread_locals(source, command);
    append(command, dependency_flags(object));
    append(command, {"-c", source.path});
    if (through_bitcode) append(command, toolchain::bitcode_flags(source.language));
    append(command, {"-o", through_bitcode ? bitcode : object});
    GW_TRY_VOID(run(std::move(command)));
    if (!through_bitcode) return ok();
    GW_TRY_VOID(toolchain::rewrite_bitcode({bitcode}));
    Words generate = toolchain::generate_command(exceptions_);
    append(generate, arguments_.compile);
    append(generate, {"-w", "-c", bitcode, "-o", object});
    return run(std::move(generate));
  }

  // A source that cannot be expanded is said to have none: what is wrong with it shows when it is compiled.
  static bool mentions_thread_locals(const Arguments::Source& source, Words command) {
    append(command, {"-w", "-E", "-P", source.path, "-o", "-"});
    const auto expanded = toolchain::run_tool(std::move(command), {}, "");
    return expanded && toolchain::mentions_thread_locals(expanded->out);
  }

  // The list of headers is named after the object, not after the bitcode on the way to it.
  Words dependency_flags(const std::string& object) const {
    const auto given = [&](std::string_view flag) { return std::ranges::find(arguments_.compile, flag) != arguments_.compile.end(); };
    if (!given("-MD") && !given("-MMD")) return {};
    Words flags;
    if (!given("-MT") && !given("-MQ")) append(flags, {"-MT", object});
    if (!given("-MF")) append(flags, {"-MF", fs::path(object).replace_extension(".d").string()});
    return flags;
  }

  Result<Words> compile_runtime() {
    GW_TRY(const auto cache, toolchain::BuildCache::open_default());
    GW_TRY(const auto version, toolchain::run_tool({toolchain::driver_of(driver_), "--version"}, {}, "the compiler does not start"));
    const auto parts = toolchain::runtime_parts(driver_, exceptions_);
    for (const std::string& source : parts.sources())
      GW_TRY_VOID(toolchain::compile_runtime_source(cache, folder_.path(), source, exceptions_, version.out));
    return parts.link_words(folder_.path());
  }

  static Status write_program(const fs::path& path, ByteView wasm) {
    GW_TRY_VOID(os::write_file_atomic(path, toolchain::with_launcher(wasm), os::Durability::unflushed));
    std::error_code error;
    fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add, error);
    if (error) return fail(Kind::internal, "cannot make {} executable: {}", path.string(), error.message());
    return ok();
  }

  const Arguments& arguments_;
  Language driver_;
  Exceptions exceptions_;
  os::TempDir folder_;
};

// Headers of the SDK are needed after this process has become clang, so the folder stays: one per version, in the cache.
Result<fs::path> lasting_sdk() {
  GW_TRY(const fs::path root, os::cache_dir());
  const fs::path folder = root / "sdk" / toolchain::sdk_version();
  GW_TRY_VOID(toolchain::write_guest_sdk(folder));
  return folder;
}

Status forward(const Arguments& arguments, Language driver) {
  GW_TRY(const fs::path sdk, lasting_sdk());
  Words command = toolchain::compile_command(driver, toolchain::exceptions_of(arguments.compile), toolchain::sdk_headers(sdk));
  append(command, arguments.all);
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  return fail(Kind::not_found, "{} does not start: {}", command[0], std::strerror(errno));
}

}  // namespace

Status run(const Arguments& arguments, Language driver) {
  if (arguments.mode == Arguments::Mode::forward) return forward(arguments, driver);
  GW_TRY(os::TempDir folder, os::TempDir::make());
  GW_TRY_VOID(toolchain::write_guest_sdk(folder.path()));
  Driver work(arguments, driver, std::move(folder));
  return arguments.mode == Arguments::Mode::compile ? work.compile_all() : work.link();
}

}  // namespace gw::compiler_driver
