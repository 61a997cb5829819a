#pragma once
// Placeholders in the arguments, variables and paths of an array of tasks, in the manner of GNU parallel.
//
//   {}    the value of the task            {/}   its last name: "c.png" of "a/b/c.png"
//   {#}   the number of the task, from 0   {.}   without its extension: "a/b/c"
//   {x}   the value of column x            {/.}  the last name without its extension: "c"
//                                          {//}  the folder: "a/b", or "." if there is none
//
// The last four also apply to a column: {x/.}. Braces around anything that has not the form of a placeholder stay as they are, as in
// {"a": 1}; doubled braces stand for simple ones: {{}} is the text {}.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gw::job {

// The text that a placeholder stands for in one task.
struct PlaceholderValues {
  std::string_view number;              // of the task
  std::span<const std::string> values;  // by column
};

// A text with placeholders, read once and expanded for each task. A value without threads.
class Template {
 public:
  // `columns`: the names of the values; "" is the name of {}. Kind::invalid: a placeholder is not known.
  static Result<Template> parse(std::string_view text, std::span<const std::string> columns);

  // Columns whose values it uses.
  std::vector<std::size_t> columns() const;
  // Appends the text for a task. False: it would have more than `most` bytes. REQUIRES: a value for each column.
  bool expand(const PlaceholderValues& values, std::size_t most, std::string& out) const;

 private:
  enum class Form : std::uint8_t { whole, last_name, without_extension, last_name_without_extension, folder };
  static constexpr int kLiteral = -1, kNumber = -2;
  struct Part {
    int column;  // or one of the constants above
    Form form = Form::whole;
    std::string text = {};  // of a literal
  };

  static Result<Part> read(std::string_view inside, std::span<const std::string> columns);
  static std::string_view form_of(std::string_view value, Form form);
  void add_literal(std::string_view text);

  std::vector<Part> parts_;
};

// Whether the text has anything of the form of a placeholder, and whether a column can have this name.
bool has_placeholder(std::string_view text);
bool is_column_name(std::string_view name);

}  // namespace gw::job
