#include "cli/jobs/script.h"

#include <algorithm>
#include <filesystem>

#include "cli/settings/mount.h"

namespace gw::cli {
namespace {

Status check_options(const SourceOptions& source) {
  if (source.files.size() != 1)
    return fail(Kind::invalid, "one script at a time: {} files were named; give its modules and data with --input", source.files.size());
  if (!source.include_folders.empty() || !source.definitions.empty() || !source.optimization.empty() || !source.compiler_flags.empty())
    return fail(Kind::invalid, "{} is a script: flags of the compiler apply to C and C++ only", source.files.front());
  if (source.poll == "counter" || source.verify)
    return fail(Kind::invalid, "{} is a script: --poll and --verify apply to programs that are built", source.files.front());
  return ok();
}

bool contains(const std::string& input, const Mount& script) {
  const auto mount = parse_mount(input);
  return mount && (mount->guest == script.guest || script.guest.starts_with(mount->guest + "/"));
}

}  // namespace

Result<std::optional<Script>> find_script(const SourceOptions& source, const std::string& interpreter,
                                          const std::vector<std::string>& inputs) {
  const toolchain::ScriptLanguage* const language = interpreter.empty() ? toolchain::script_language_of(source.files.front()) : nullptr;
  if (language == nullptr && interpreter.empty()) return std::optional<Script>();
  GW_TRY_VOID(check_options(source));
  GW_TRY(const Mount mount, parse_mount(source.files.front()));
  Script script{.language = language,
                .interpreter = interpreter,
                .interpreter_name = language != nullptr ? std::string(language->name) : std::filesystem::path(interpreter).stem().string(),
                .guest_path = mount.guest};
  if (std::ranges::none_of(inputs, [&](const std::string& input) { return contains(input, mount); })) script.mount = source.files.front();
  return std::optional<Script>(std::move(script));
}

}  // namespace gw::cli
