#pragma once
// A script given to `run`: its interpreter is the program, the script an input and the first argument.

#include <optional>
#include <string>
#include <vector>

#include "cli/settings/source_options.h"
#include "toolchain/languages/script_language.h"

namespace gw::cli {

struct Script {
  const toolchain::ScriptLanguage* language;  // nullptr: the user names the interpreter
  std::string interpreter;                    // a wasm module, if the user names it
  std::string interpreter_name;               // the program's own name
  std::string guest_path;                     // of the script
  std::optional<std::string> mount;           // HOST:GUEST of the script, unless an input of the user contains it
};

// None: the files are no script. Kind::invalid: options do not go with a script.
Result<std::optional<Script>> find_script(const SourceOptions& source, const std::string& interpreter,
                                          const std::vector<std::string>& inputs);

}  // namespace gw::cli
