#pragma once
// Times and sizes as text.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gw::cli {

// "200ms", "1.5s", "1h30m", "02:30:00": units ms, s, m, h, d from large to small, or HH:MM:SS. A number without a unit is refused as
// ambiguous.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// "512M", "64KiB", "1.5G", "65536": bytes; K, M, G are powers of 1024, with or without "iB".
Result<std::uint64_t> parse_bytes(std::string_view text);

std::string human_bytes(std::uint64_t bytes);                     // "12 B", "3.4 KiB"
std::string human_duration(std::chrono::milliseconds duration);   // "340 ms", "2.5 s", "1h30m", "30d01h"
std::string counted(std::uint64_t count, std::string_view what);  // "1 peer", "2 peers"

}  // namespace gw::cli
