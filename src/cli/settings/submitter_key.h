#pragma once

#include <filesystem>

#include "base/signature.h"

namespace gw::cli {

// The key this user signs jobs with: the one in `file` (64 hexadecimal digits), or a new one that is put there, for this user alone. A file
// that others may read or change is refused.
Result<SigningKey> load_or_make_submitter_key(const std::filesystem::path& file);

// The default file, in the folder of the user's settings.
std::filesystem::path usual_submitter_key();

}  // namespace gw::cli
