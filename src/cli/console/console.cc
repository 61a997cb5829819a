#include "cli/console/console.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "os/files/io.h"

namespace gw::cli {
namespace {

// fwrite instead of fmt::print, which throws when the reader has closed the pipe; flush() reports that.
void write(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

// Texts may be names and messages of other machines, in any encoding.
std::string dumped(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

std::string_view hint_of(ExitCode code) {
  switch (code) {
    case ExitCode::limit:
      return "raise the limit with --memory, --time-limit or --wall-limit";
    case ExitCode::failed:
      return "read the message, then try the command again";
    default:
      return "";
  }
}

std::string_view name_of(ExitCode code) {
  const auto entry = std::ranges::find(kExitCodes, code, &ExitCodeEntry::code);
  return entry == kExitCodes.end() ? "failed" : entry->name;
}

}  // namespace

Format to_format(std::string_view word) { return word == "json" ? Format::json : word == "quiet" ? Format::quiet : Format::table; }

Console::Console(Format format, std::string_view color)
    : format_(format), out_(Terminal::of(STDOUT_FILENO, color)), err_(Terminal::of(STDERR_FILENO, color)) {}

void Console::print(const Report& report) {
  clear_progress();
  switch (format_) {
    case Format::table:
      return write(stdout, report.text);
    case Format::quiet:
      return write(stdout, report.essence.empty() ? "" : report.essence + "\n");
    case Format::json: {
      Json object = {{"schema", report.schema}};
      object.update(report.json);
      return write(stdout, dumped(object, 2) + "\n");
    }
  }
}

void Console::print_text(std::string_view text) {
  clear_progress();
  write(stdout, text);
}

void Console::print_line(const Json& event) {
  write(stdout, dumped(event, -1) + "\n");
  std::fflush(stdout);
}

void Console::note(std::string_view sentence) {
  clear_progress();
  if (format_ == Format::table)
    write(stderr, fmt::format("{} {}\n", styled(err_, Style::dim, "godwit:"), printable(sentence, Newlines::indented)));
}

void Console::pass_on(std::string_view text) {
  clear_progress();
  write(stderr, text);
}

ExitCode Console::report(const Error& error, std::string_view command) { return report(error, exit_code_of(error.kind), command); }

ExitCode Console::report(const Error& error, ExitCode code, std::string_view command) {
  clear_progress();
  const std::string hint = code == ExitCode::usage ? fmt::format("{} --help", command) : std::string(hint_of(code));
  if (format_ == Format::json) {
    print_line({{"schema", "godwit.error/1"},
                {"error", error.detail},
                {"code", name_of(code)},
                {"exit_code", static_cast<int>(code)},
                {"hint", hint}});
  } else {
    write(stderr, fmt::format("{} {}\n", styled(err_, Style::red, "godwit:"), printable(error.detail, Newlines::kept)));
  }
  return code;
}

void Console::progress(std::string_view text) {
  if (format_ != Format::table || !err_.is_terminal) return;
  write(stderr, fmt::format("\r{}\033[K", styled(err_, Style::dim, fitted(text, err_.width - 1))));
  progress_shown_ = true;
}

void Console::clear_progress() {
  if (!std::exchange(progress_shown_, false)) return;
  write(stderr, "\r\033[K");
}

Status Console::flush() {
  clear_progress();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return ok();
  return fail(Kind::internal, "cannot write the result: {}", os::reason(errno));
}

Rows& Rows::add(std::string key, std::string label, Json value, std::string text) {
  if (text.empty()) text = value.is_string() ? value.get<std::string>() : value.dump();
  table_.add_row({std::move(label), std::move(text)});
  json_[std::move(key)] = std::move(value);
  return *this;
}

}  // namespace gw::cli
