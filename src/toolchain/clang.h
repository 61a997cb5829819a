#pragma once
// How clang and wasm-ld are called for guests: programs and flags.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/process/process.h"

namespace gw::toolchain {

using Words = std::vector<std::string>;

enum class Language { c, cxx };
// on: C++ code can throw and catch. off: as with -fno-exceptions, nothing of it is linked.
enum class Exceptions { off, on };

// on: the linked module has the line table of its sources.
enum class DebugInfo { off, on };

void append(Words& words, const Words& more);

// Runs a tool; a result that is not success becomes "<what>:" and the tool's own words.
Result<os::ProcessResult> run_tool(Words argv, const std::filesystem::path& working_dir, const std::string& what);

std::string driver_of(Language language);
// The driver and all flags up to the user's.
Words compile_command(Language language, Exceptions exceptions, const std::filesystem::path& sdk_headers);
// For a source that is compiled to bitcode, which rewrite_bitcode() (bitcode.h) changes before generate_command() makes an object file of
// it. All of C++ goes this way.
Words bitcode_flags(Language language);
Words generate_command(Exceptions exceptions);
// Without objects and output; `link_tail` comes behind the objects and the user's flags.
Words link_command(Language language, Exceptions exceptions, DebugInfo debug_info);
Words link_tail();

// Checks a flag of the user.
Status check_flag(const std::string& flag);
bool is_link_flag(const std::string& flag);
// -include and -imacros: what they bring is in the expanded source, so they must not apply again when that is compiled.
bool brings_a_file(const std::string& flag);
// -fno-exceptions turns exceptions off, -fexceptions on again. With -fignore-exceptions code still throws.
Exceptions exceptions_of(const Words& flags);
// -g, -g2, -ggdb, -gline-tables-only and the like turn it on, -g0 off.
DebugInfo debug_info_of(const Words& flags);
// For programs that are to be debugged: lines, and code in the order of the source.
Words debug_flags();

// Where the compiler's programs are found, in the order of PATH; those that are missing are left out.
std::vector<std::filesystem::path> compiler_programs();

}  // namespace gw::toolchain
