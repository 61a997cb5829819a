#include "settings.h"

namespace gw::sim {

Result<toml::table> read_toml(const std::filesystem::path& file) {
  // Converts the TOML library's exceptions to errors.
  try {
    return toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    return fail(Kind::invalid, "{}: {} (line {})", file.string(), error.description(), error.source().begin.line);
  }
}

Result<std::string> world_of(const std::filesystem::path& file) {
  GW_TRY(const toml::table table, read_toml(file));
  return table["world"].value_or(std::string());
}

}  // namespace gw::sim
