#include "cli/settings/settings_file.h"

#include "os/files/file.h"

// Header only, and without exceptions: the library that Debian builds throws.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 1u << 20;

// Empty if there is no such file.
Result<std::string> read_text(const fs::path& file) {
  auto bytes = os::read_file(file, kMaxFileBytes);
  if (!bytes && bytes.error().kind == Kind::not_found) return std::string();
  if (!bytes) return bytes.error();
  return std::string(as_text(*bytes));
}

Result<toml::table> parse(const fs::path& file, const std::string& text) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return fail(Kind::invalid, "{}, line {}: {}: correct it, or remove the file", file.string(), parsed.error().source().begin.line,
                parsed.error().description());
  }
  return std::move(parsed).table();
}

Result<std::string> value_text(const toml::node& value) {
  if (const auto text = value.value_exact<std::string>()) return *text;
  if (const auto number = value.value_exact<std::int64_t>()) return std::to_string(*number);
  return fail(Kind::invalid, "the value must be a text in quotes or a whole number");
}

Result<std::pair<Key, std::string>> read_entry(std::string_view name, const toml::node& value) {
  GW_TRY(Key key, find_setting(name));
  GW_TRY(std::string text, value_text(value));
  Status valid = setting_key(key).check(text);
  if (!valid) return fail(Kind::invalid, "{}: {}", name, valid.error().detail);
  return std::pair(key, std::move(text));
}

// Where a position of the parser, which counts lines and characters from 1, lies in the bytes.
std::size_t byte_offset(std::string_view text, toml::source_position position) {
  std::size_t at = 0;
  for (toml::source_index line = 1; line < position.line; ++line) at = text.find('\n', at) + 1;
  const auto continues = [&](std::size_t i) { return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80; };
  for (toml::source_index column = 1; column < position.column; ++column) {
    ++at;
    while (continues(at)) ++at;
  }
  return at;
}

std::string with_setting(std::string text, const toml::node* present, std::string_view name, const std::string& value) {
  if (present != nullptr) {
    const std::size_t begin = byte_offset(text, present->source().begin);
    const std::size_t end = byte_offset(text, present->source().end);
    return text.replace(begin, end - begin, value);
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return fmt::format("{}{} = {}\n", text, name, value);
}

}  // namespace

Result<std::vector<std::pair<Key, std::string>>> read_settings_file(const fs::path& file) {
  GW_TRY(std::string text, read_text(file));
  GW_TRY(toml::table table, parse(file, text));
  std::vector<std::pair<Key, std::string>> settings;
  for (const auto& [name, value] : table) {
    auto entry = read_entry(name.str(), value);
    if (!entry) return fail(Kind::invalid, "{}, line {}: {}", file.string(), name.source().begin.line, entry.error().detail);
    settings.push_back(*std::move(entry));
  }
  return settings;
}

Status write_setting(const fs::path& file, Key key, std::string_view value) {
  GW_TRY_VOID(read_settings_file(file));  // a file with a mistake in it is not touched
  GW_TRY(std::string text, read_text(file));
  GW_TRY(toml::table table, parse(file, text));
  std::ostringstream quoted;
  quoted << toml::value<std::string>(std::string(value));
  const std::string_view name = setting_key(key).name;
  const std::string changed = with_setting(std::move(text), table.get(name), name, quoted.str());

  std::error_code failure;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), failure);
  if (failure) return fail(Kind::internal, "cannot create the folder {}: {}", file.parent_path().string(), failure.message());
  return os::write_file_atomic(file, as_bytes(changed));
}

}  // namespace gw::cli
