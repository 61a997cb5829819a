#pragma once
// Languages whose programs are scripts: the interpreter is a program like any other, made mobile once, and the script is its input.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"

namespace gw::toolchain {

// An interpreter in C that is compiled from Debian's source package.
struct CompiledInterpreter {
  std::string_view package;
  std::vector<std::string_view> sources;  // patterns as for a shell, below the folder of the package
  std::vector<std::string_view> left_out;
  std::vector<std::string_view> flags;
};

// An interpreter that is published as a wasm module.
struct PublishedInterpreter {
  std::string_view package;  // of the npm registry, with its version
  std::string_view file;     // the module in it
  std::string_view sha256;
};

struct ScriptLanguage {
  std::string_view name;       // "lua": in commands and as the interpreter's name
  std::string_view title;      // "Lua 5.4"
  std::string_view extension;  // of its scripts, with the dot
  std::variant<CompiledInterpreter, PublishedInterpreter> interpreter;
};

std::span<const ScriptLanguage> script_languages();
// nullptr: no such language.
const ScriptLanguage* find_script_language(std::string_view name);
// The language of a script, by its extension. nullptr: the file is no script.
const ScriptLanguage* script_language_of(const std::filesystem::path& file);

// Interpreters are kept as mobile modules in a folder of this user, one file each.
Result<std::filesystem::path> interpreter_file(const ScriptLanguage& language);
// Fetches and builds the interpreter and puts it into its place, also if there is one. Takes seconds (Lua) to minutes (Python).
// Errors are those of fetching (source_package.h) and building (build.h).
Status add_interpreter(const ScriptLanguage& language);
// Kind::not_found, with the command that helps: the interpreter was not added.
Result<Bytes> load_interpreter(const ScriptLanguage& language);

}  // namespace gw::toolchain
