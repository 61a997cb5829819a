#include "isolate/memory/page_advice.h"

#include <sys/mman.h>

namespace gw::isolate {
namespace {

constexpr std::uintptr_t kHugePage = 2u << 20;
constexpr std::size_t kWorthIt = 64u << 20;

}  // namespace

void prefer_huge_pages(std::span<std::uint8_t> memory) {
  if (memory.size() < kWorthIt) return;
  auto start = reinterpret_cast<std::uintptr_t>(memory.data());
  std::uintptr_t first = (start + kHugePage - 1) & ~(kHugePage - 1);
  std::uintptr_t end = (start + memory.size()) & ~(kHugePage - 1);
  if (first < end) (void)madvise(memory.data() + (first - start), end - first, MADV_HUGEPAGE);
}

void populate(std::span<std::uint8_t> memory) { (void)madvise(memory.data(), memory.size(), MADV_POPULATE_WRITE); }

}  // namespace gw::isolate
