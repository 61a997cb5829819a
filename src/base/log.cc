#include "base/log_sink.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>

namespace gw::log {
namespace {

using Clock = std::chrono::steady_clock;

// Counts lines with the same text in windows of one second. Texts are literals of the program, so the map stays small.
class RateGate {
 public:
  // The number of lines left out before this one, or nothing if this one is to be left out too.
  std::optional<unsigned> admit(const std::string& text, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    Window& window = windows_[text];
    unsigned left_out = 0;
    if (now - window.start >= std::chrono::seconds(1)) {
      left_out = window.left_out;
      window = Window{.start = now};
    }
    if (window.lines == kLinesPerSecond) {
      ++window.left_out;
      return std::nullopt;
    }
    ++window.lines;
    return left_out;
  }

 private:
  struct Window {
    Clock::time_point start;
    unsigned lines = 0;
    unsigned left_out = 0;
  };

  std::mutex mutex_;
  std::map<std::string, Window> windows_;
};

// A value is one word: one with blanks, quotes or control characters is written in quotes, with escapes, so that a line stays one line.
void append_value(std::string& line, std::string_view value) {
  const auto is_plain = [](char c) { return c > ' ' && c != '"' && c != '\\' && c != 0x7f; };
  if (!value.empty() && std::ranges::all_of(value, [&](char c) { return is_plain(c) || static_cast<unsigned char>(c) >= 0x80; })) {
    line += value;
    return;
  }
  line += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    if (c == '\n') {
      line += "\\n";
    } else {
      line += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? '?' : c;
    }
  }
  line += '"';
}

constexpr std::string_view kLevelNames[] = {"debug", "info", "warn", "error"};
std::atomic<Level> threshold{Level::warn};

struct Output {
  std::mutex mutex;
  Sink sink;
};
Output& output() {
  static Output only;
  return only;
}

}  // namespace

void set_level(Level level) { threshold.store(level, std::memory_order_relaxed); }
void set_sink(Sink sink) {
  const std::lock_guard lock(output().mutex);
  output().sink = std::move(sink);
}
bool enabled(Level level) { return level >= threshold.load(std::memory_order_relaxed); }

void write(Level level, std::string_view area, std::string_view text, std::initializer_list<KeyValue> values) {
  static RateGate gate;
  const auto left_out = gate.admit(fmt::format("{}: {}", area, text), Clock::now());
  if (!left_out) return;
  std::string line = fmt::format("{} {}: {}", kLevelNames[static_cast<std::size_t>(level)], area, text);
  for (const KeyValue& pair : values) {
    fmt::format_to(std::back_inserter(line), " {}=", pair.key);
    append_value(line, pair.value);
  }
  if (*left_out > 0) fmt::format_to(std::back_inserter(line), " left_out_before={}", *left_out);
  line.push_back('\n');
  const std::lock_guard lock(output().mutex);
  if (output().sink) return output().sink(level, line);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace gw::log
