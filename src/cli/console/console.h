#pragma once
// The output of commands, for users and for scripts.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/console/table.h"
#include "cli/console/terminal.h"
#include "cli/exit_codes.h"

namespace gw::cli {

using Json = nlohmann::ordered_json;

enum class Format { table, json, quiet };

// REQUIRES: one of the words of FORMAT.
Format to_format(std::string_view word);

// The result of a command in the three formats.
struct Report {
  std::string schema;   // "godwit.config/1", documented in docs/cli-json.md
  Json json;            // an object; the schema is put in front
  std::string text;     // for users: tables and lines
  std::string essence;  // for -o quiet: the one thing a script would cut out, or nothing
};

// Results go to stdout, everything else to stderr. With -o json stdout carries JSON values only. Control characters in sentences are
// replaced, because a sentence may come from another machine. One thread at a time.
class Console {
 public:
  Console(Format format, std::string_view color);

  Format format() const { return format_; }
  const Terminal& out() const { return out_; }
  const Terminal& err() const { return err_; }

  void print(const Report& report);
  void print_text(std::string_view text);  // as it is, to stdout
  void print_line(const Json& event);      // one line of JSON, and out at once
  // A sentence for the user, on stderr. Left out with -o quiet and -o json.
  void note(std::string_view sentence);
  // Text of another tool, such as a compiler's warnings, to stderr in every format.
  void pass_on(std::string_view text);
  // Prints the error and returns the exit code. `command` is the command whose --help may be useful: "godwit run".
  ExitCode report(const Error& error, std::string_view command);
  ExitCode report(const Error& error, ExitCode code, std::string_view command);

  // A line on stderr that the next call replaces; only on a terminal and only with -o table.
  void progress(std::string_view text);
  void clear_progress();

  // Flushes stdout; fails if something could not be written.
  Status flush();

 private:
  Format format_;
  Terminal out_, err_;
  bool progress_shown_ = false;
};

// A list of named values, as a table without headings and as a JSON object.
class Rows {
 public:
  // The table shows `text` instead of the value, unless it is empty.
  Rows& add(std::string key, std::string label, Json value, std::string text = {});
  const Json& json() const { return json_; }
  std::string render(const Terminal& terminal) const { return table_.render(terminal); }

 private:
  Json json_ = Json::object();
  Table table_{{{.heading = "", .style = Style::dim}, {.heading = "", .fit = Table::Fit::cut}}};
};

}  // namespace gw::cli
