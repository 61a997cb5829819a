#pragma once
// Log lines for operators: fixed text plus key-values, so that they can be searched, one line each on stderr:
//
//   log::info("isolate", "suspended", kv("id", 7), kv("ms", 0.3));      ->  info isolate: suspended id=7 ms=0.3
//
// A value with blanks, quotes or control characters is written in quotes, with escapes. The program that owns the log puts the time in
// front (daemon/log_output.h).
//
// A text that repeats is cut off after kLinesPerSecond and the rest counted: what a guest or peer can cause must not flood the log.
// Any thread.

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace gw {

struct KeyValue {
  std::string_view key;
  std::string value;
};

template <class T>
KeyValue kv(std::string_view key, const T& value) {
  return KeyValue{key, fmt::format("{}", value)};
}

namespace log {

// error: an operator must act. warn: degraded. info: rare life-cycle events. debug: everything else.
enum class Level : std::uint8_t { debug, info, warn, error };

inline constexpr unsigned kLinesPerSecond = 20;

// Lines below this level are dropped. Initially warn.
void set_level(Level level);
bool enabled(Level level);

void write(Level level, std::string_view area, std::string_view text, std::initializer_list<KeyValue> values);

template <class... Values>
void debug(std::string_view area, std::string_view text, const Values&... values) {
  if (enabled(Level::debug)) write(Level::debug, area, text, {values...});
}
template <class... Values>
void info(std::string_view area, std::string_view text, const Values&... values) {
  if (enabled(Level::info)) write(Level::info, area, text, {values...});
}
template <class... Values>
void warn(std::string_view area, std::string_view text, const Values&... values) {
  if (enabled(Level::warn)) write(Level::warn, area, text, {values...});
}
template <class... Values>
void error(std::string_view area, std::string_view text, const Values&... values) {
  if (enabled(Level::error)) write(Level::error, area, text, {values...});
}

}  // namespace log
}  // namespace gw
