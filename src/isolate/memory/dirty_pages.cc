#include "isolate/memory/dirty_pages.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

#include "wire/image/image.h"

namespace gw::isolate {
namespace {

using wire::kPageBytes;

// Ranges in, pages out; both ascending.
class PageList {
 public:
  explicit PageList(const std::uint8_t* base) : base_(base) {}

  void add(const std::uint8_t* start, std::size_t bytes) {
    auto first = static_cast<std::uint32_t>(static_cast<std::size_t>(start - base_) / kPageBytes);
    auto last = static_cast<std::uint32_t>(static_cast<std::size_t>(start - base_ + bytes - 1) / kPageBytes);
    for (std::uint32_t page = pages_.empty() ? first : std::max(first, pages_.back() + 1); page <= last; page++) pages_.push_back(page);
  }
  std::vector<std::uint32_t> take() { return std::move(pages_); }

 private:
  const std::uint8_t* base_;
  std::vector<std::uint32_t> pages_;
};

class ProtectedMemory final : public DirtyPages {
 public:
  ProtectedMemory(MemoryWatch& watch, std::uint8_t* base) : watch_(watch), base_(base) {}

  Result<std::vector<std::uint32_t>> collect(std::size_t bytes) override {
    PageList pages(base_);
    auto add = [&](std::uint8_t* start, std::size_t count) { pages.add(start, count); };
    if (tracked_ > 0) GW_TRY_VOID(watch_.written({base_, tracked_}, add));
    if (bytes > tracked_) {
      watch_.present({base_ + tracked_, bytes - tracked_}, add);
      GW_TRY_VOID(watch_.track({base_ + tracked_, bytes - tracked_}));
      tracked_ = bytes;
    }
    return pages.take();
  }

 private:
  MemoryWatch& watch_;
  std::uint8_t* base_;
  std::size_t tracked_ = 0;
};

class ShadowedMemory final : public DirtyPages {
 public:
  ShadowedMemory(MemoryWatch& watch, std::uint8_t* base) : watch_(watch), base_(base) {}

  Result<std::vector<std::uint32_t>> collect(std::size_t bytes) override {
    GW_TRY_VOID(grow_shadow(bytes));
    PageList present(base_);
    watch_.present({base_, bytes}, [&](std::uint8_t* start, std::size_t count) { present.add(start, count); });
    std::vector<std::uint32_t> changed;
    for (std::uint32_t page : present.take()) {
      std::size_t at = std::size_t{page} * kPageBytes;
      if (std::memcmp(base_ + at, shadow_.get() + at, kPageBytes) == 0) continue;
      std::memcpy(shadow_.get() + at, base_ + at, kPageBytes);
      copied_.insert(page);
      changed.push_back(page);
    }
    return changed;
  }

 private:
  // New memory is zero, and so is its shadow. calloc takes no memory for what is never written: most of a guest's is not.
  Status grow_shadow(std::size_t bytes) {
    if (bytes <= shadow_bytes_) return ok();
    std::unique_ptr<std::uint8_t, decltype(&std::free)> larger(static_cast<std::uint8_t*>(std::calloc(bytes, 1)), &std::free);
    if (!larger) return fail(Kind::overloaded, "there is no memory to follow the writes of a guest of {} bytes", bytes);
    for (std::uint32_t page : copied_) {
      const std::size_t at = std::size_t{page} * kPageBytes;
      std::memcpy(larger.get() + at, shadow_.get() + at, kPageBytes);
    }
    shadow_ = std::move(larger);
    shadow_bytes_ = bytes;
    return ok();
  }

  MemoryWatch& watch_;
  std::uint8_t* base_;
  std::unique_ptr<std::uint8_t, decltype(&std::free)> shadow_{nullptr, &std::free};
  std::size_t shadow_bytes_ = 0;
  std::set<std::uint32_t> copied_;  // pages of the shadow that may not be zero
};

}  // namespace

Result<std::unique_ptr<DirtyPages>> follow_writes(MemoryWatch& watch, std::uint8_t* base, std::size_t bytes) {
  std::unique_ptr<DirtyPages> pages;
  if (watch.can_track()) {
    pages = std::make_unique<ProtectedMemory>(watch, base);
  } else {
    pages = std::make_unique<ShadowedMemory>(watch, base);
  }
  GW_TRY_VOID(pages->collect(bytes));
  return pages;
}

}  // namespace gw::isolate
