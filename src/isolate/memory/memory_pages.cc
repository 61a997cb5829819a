#include "isolate/memory/memory_pages.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "wire/image/image.h"

namespace gw::isolate {

using wire::kPageBytes;

bool is_zero(ByteView page) { return page[0] == 0 && std::memcmp(page.data(), page.data() + 1, page.size() - 1) == 0; }

std::vector<std::uint32_t> pages_present(const MemoryWatch& watch, std::span<std::uint8_t> memory, std::span<const std::uint32_t> shared) {
  std::vector<std::uint32_t> present;
  std::uint32_t next = 0;
  watch.present({memory.data(), memory.size()}, [&](std::uint8_t* start, std::size_t bytes) {
    auto offset = static_cast<std::size_t>(start - memory.data());
    auto last = static_cast<std::uint32_t>((offset + bytes - 1) / kPageBytes);
    for (next = std::max(next, static_cast<std::uint32_t>(offset / kPageBytes)); next <= last; next++) present.push_back(next);
  });
  if (shared.empty()) return present;
  std::vector<std::uint32_t> all;
  std::ranges::set_union(present, shared, std::back_inserter(all));
  return all;
}

std::vector<std::uint32_t> pages_not_zero(const MemoryWatch& watch, std::span<std::uint8_t> memory, std::span<const std::uint32_t> shared) {
  auto pages = pages_present(watch, memory, shared);
  std::erase_if(pages, [&](std::uint32_t index) { return is_zero(memory.subspan(std::size_t{index} * kPageBytes, kPageBytes)); });
  return pages;
}

}  // namespace gw::isolate
