#pragma once

#include <chrono>
#include <string_view>

#include "base/result.h"

namespace gw::cli {

// "200ms", "2s", "1.5s", "3m", "1h"; a number without a unit is refused, so that nobody has to guess it.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// "64MiB", "1GiB", "65536": bytes.
Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace gw::cli
