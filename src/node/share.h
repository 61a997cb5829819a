#pragma once
// What this machine lends to others, as its owner says.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"

namespace gw::node {

struct Share {
  std::uint32_t cores = 1;          // slots: threads of jobs at once
  std::uint64_t memory_bytes = 0;   // for all of them together; 0: as much as each worker may have anyway
  std::uint32_t cpu_percent = 100;  // of the time of these cores

  auto operator<=>(const Share&) const = default;
};

// What is to be changed of it.
struct ShareChange {
  std::optional<std::uint32_t> cores;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint32_t> cpu_percent;
};

// Kind::invalid: what is out of range, in a sentence.
Result<Share> changed(const Share& share, const ShareChange& change);

// As it was saved; nothing if it never was. Kind::corrupt: the file is not what was written.
Result<std::optional<Share>> load_share(const std::filesystem::path& file);
Status save_share(const std::filesystem::path& file, const Share& share);

}  // namespace gw::node
