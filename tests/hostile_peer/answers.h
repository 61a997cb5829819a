#pragma once
// Counts the target's answers.

#include <map>
#include <string>

#include "protocol.h"

namespace gw::hostile {

// Counted by kind. Bytes of a blob and descriptions of images are secrets: no stranger may see them.
class Answers {
 public:
  explicit Answers(const Protocol& protocol) : protocol_(protocol) {}

  void add(const std::string& message);
  bool has(const std::string& kind) const { return counts_.contains(kind); }
  void print() const;

 private:
  const Protocol& protocol_;
  std::map<std::string, std::size_t> counts_, secrets_;
};

}  // namespace gw::hostile
