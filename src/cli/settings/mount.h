#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gw::cli {

// A file or folder of this machine that the program sees under a path of its own.
struct Mount {
  std::filesystem::path host;
  std::string guest;  // absolute, no "." or "..", no slash at its end
};

// "HOST[:GUEST]"; the last colon counts. Without GUEST the program sees the path as it was typed: a relative one under "/", an absolute one
// as it is.
Result<Mount> parse_mount(std::string_view text);

// Whether the mount is a folder already, or written as one, with a slash at its end. The program then finds it, as it would natively.
bool is_folder(const Mount& mount);

// The words of --input and --output, checked before anything runs: inputs exist and can be read, the folders of outputs exist and can be
// written, and no two of them are the same place for the program, or one inside the other.
struct Mounts {
  std::vector<Mount> inputs, outputs;
};
Result<Mounts> check_mounts(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

}  // namespace gw::cli
