#pragma once
// Hints to the kernel about large stretches of memory that are about to be filled. All of it works without them, only slower: a fault for
// each 4 KiB costs several times what filling them does.

#include <cstddef>
#include <cstdint>
#include <span>

namespace gw::isolate {

// Use huge pages for the part that consists of whole ones. Only for memory that will be filled: a huge page is there as a whole.
void prefer_huge_pages(std::span<std::uint8_t> memory);

// Make all pages now. REQUIRES: starts and ends on a system page.
void populate(std::span<std::uint8_t> memory);

}  // namespace gw::isolate
