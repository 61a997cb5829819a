#include "job/authority/placeholders.h"

#include <algorithm>
#include <array>
#include <optional>

namespace gw::job {
namespace {

constexpr std::size_t kLongestName = 64;

bool is_placeholder_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '#' || c == '/' ||
         c == '.';
}

// The text between the braces of what has the form of a placeholder, which begins at text[at].
std::optional<std::string_view> inside_braces(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '{') return std::nullopt;
  const std::size_t end = text.find('}', at);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = text.substr(at + 1, end - at - 1);
  if (inside.size() > kLongestName || !std::ranges::all_of(inside, is_placeholder_character)) return std::nullopt;
  return inside;
}

// The words in doubled braces there.
std::optional<std::string_view> inside_doubled_braces(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("{{")) return std::nullopt;
  const auto inside = inside_braces(text, at + 1);
  return inside && text.substr(at + inside->size() + 3).starts_with('}') ? inside : std::nullopt;
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// A name that begins with its only dot has no extension.
std::string_view without_extension(std::string_view path) {
  const std::string_view name = last_name(path);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? path : path.substr(0, path.size() - (name.size() - dot));
}

std::string_view folder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

bool is_column_name(std::string_view name) {
  const auto is_letter = [](char c) { return is_placeholder_character(c) && c != '#' && c != '/' && c != '.'; };
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, is_letter);
}

bool has_placeholder(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (const auto doubled = inside_doubled_braces(text, at)) {
      at += doubled->size() + 3;
    } else if (inside_braces(text, at)) {
      return true;
    }
  }
  return false;
}

Result<Template::Part> Template::read(std::string_view inside, std::span<const std::string> columns) {
  if (inside == "#") return Part{kNumber};
  static constexpr std::array<std::pair<std::string_view, Form>, 5> kForms = {{{"//", Form::folder},
                                                                               {"/.", Form::last_name_without_extension},
                                                                               {"/", Form::last_name},
                                                                               {".", Form::without_extension},
                                                                               {"", Form::whole}}};
  const auto& [suffix, form] = *std::ranges::find_if(kForms, [&](const auto& one) { return inside.ends_with(one.first); });
  const std::string_view name = inside.substr(0, inside.size() - suffix.size());
  const auto found = std::ranges::find(columns, name);
  if (found != columns.end()) return Part{static_cast<int>(found - columns.begin()), form};
  std::string known = "{#}";
  for (const std::string& column : columns) known += (known.size() < 200 ? ", {" + column + "}" : "");
  return fail(Kind::invalid, "'{{{0}}}' is no placeholder of these tasks, which have {1}: write '{{{{{0}}}}}' for the text itself", inside,
              known);
}

void Template::add_literal(std::string_view text) {
  if (text.empty()) return;
  if (parts_.empty() || parts_.back().column != kLiteral) parts_.push_back({.column = kLiteral});
  parts_.back().text += text;
}

Result<Template> Template::parse(std::string_view text, std::span<const std::string> columns) {
  Template parsed;
  std::size_t literal = 0;  // where text begins that is not in a part yet
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at)) {
    const auto doubled = inside_doubled_braces(text, at);
    const auto inside = doubled ? doubled : inside_braces(text, at);
    if (!inside) {
      ++at;
      continue;
    }
    parsed.add_literal(text.substr(literal, at - literal));
    if (doubled) {
      parsed.add_literal(text.substr(at + 1, doubled->size() + 2));
    } else {
      GW_TRY(Part part, read(*inside, columns));
      parsed.parts_.push_back(std::move(part));
    }
    at += inside->size() + (doubled ? 4 : 2);
    literal = at;
  }
  parsed.add_literal(text.substr(literal));
  return parsed;
}

std::vector<std::size_t> Template::columns() const {
  std::vector<std::size_t> used;
  for (const Part& part : parts_)
    if (part.column >= 0) used.push_back(static_cast<std::size_t>(part.column));
  return used;
}

std::string_view Template::form_of(std::string_view value, Form form) {
  switch (form) {
    case Form::whole:
      return value;
    case Form::last_name:
      return last_name(value);
    case Form::without_extension:
      return without_extension(value);
    case Form::last_name_without_extension:
      return last_name(without_extension(value));
    case Form::folder:
      return folder(value);
  }
  return value;
}

bool Template::expand(const PlaceholderValues& values, std::size_t most, std::string& out) const {
  const std::size_t before = out.size();
  for (const Part& part : parts_) {
    if (part.column == kLiteral) {
      out += part.text;
    } else if (part.column == kNumber) {
      out += values.number;
    } else {
      out += form_of(values.values[static_cast<std::size_t>(part.column)], part.form);
    }
    if (out.size() - before > most) return false;
  }
  return true;
}

}  // namespace gw::job
