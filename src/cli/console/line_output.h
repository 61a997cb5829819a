#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/control.h"

namespace gw::cli {

// Cuts the output of several tasks into lines, so that a line of one task is never inside a line of another. A line is held until its end
// has come. With labels each line begins with the number of its task.
//
// Limits: kMaxLine bytes of a line, then it is printed in parts; kMaxOpen lines without an end, of which the longest held is then printed.
// A value; one thread.
class LineOutput {
 public:
  static constexpr std::size_t kMaxLine = 64u << 10;
  static constexpr std::size_t kMaxOpen = 4096;
  enum class Labels : std::uint8_t { none, tasks };

  struct Source {
    job::ThreadId thread;
    std::int64_t task = -1;  // -1: the thread was forked
    node::Stream stream = node::Stream::output;
    auto operator<=>(const Source&) const = default;
  };

  // The text that can be printed now.
  std::string take(const Source& source, std::string_view bytes, Labels labels);
  // The bytes of each source that were held back, at the end.
  std::vector<std::pair<node::Stream, std::string>> rest();

 private:
  struct Open {
    std::string line;
    Labels labels = Labels::none;
    std::uint64_t since = 0;
  };
  static std::string labelled(const Source& source, std::string_view line, Labels labels);
  std::string make_room();

  std::map<Source, Open> open_;
  std::uint64_t opened_ = 0;
};

}  // namespace gw::cli
