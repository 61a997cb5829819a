#include "settings.h"

namespace gw::sim {

Result<toml::table> read_toml(const std::filesystem::path& file) {
  // The one place where the library's exceptions end.
  try {
    return toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    return fail(Kind::invalid, "{}: {} (line {})", file.string(), error.description(), error.source().begin.line);
  }
}

}  // namespace gw::sim
