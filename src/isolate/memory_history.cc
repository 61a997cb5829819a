#include "isolate/memory_history.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "isolate/page_advice.h"

namespace gw::isolate {
namespace {

using wire::ImagePage;
using wire::kPageBytes;
using wire::Storage;

bool is_zero(ByteView page) { return page[0] == 0 && std::memcmp(page.data(), page.data() + 1, page.size() - 1) == 0; }

ByteView page_at(std::span<std::uint8_t> memory, std::uint32_t index) {
  return memory.subspan(std::size_t{index} * kPageBytes, kPageBytes);
}

void append_if_not_zero(std::vector<ImagePage>& pages, std::span<std::uint8_t> memory, std::uint32_t index) {
  ByteView page = page_at(memory, index);
  if (!is_zero(page)) pages.push_back({.index = index, .hash = sha256(page), .storage = Storage::raw, .stored = page});
}

// Calls `visit` once for each page that may be other than zero, ascending.
template <class Visit>
void each_present_page(const MemoryWatch& watch, std::span<std::uint8_t> memory, Visit visit) {
  std::uint32_t next = 0;
  watch.present({memory.data(), memory.size()}, [&](std::uint8_t* start, std::size_t bytes) {
    auto offset = static_cast<std::size_t>(start - memory.data());
    auto last = static_cast<std::uint32_t>((offset + bytes - 1) / kPageBytes);
    for (next = std::max(next, static_cast<std::uint32_t>(offset / kPageBytes)); next <= last; next++) visit(next);
  });
}

// Has the kernel make the pages of each stretch at once.
void populate_all(std::span<std::uint8_t> memory, std::span<const ImagePage> pages) {
  for (std::size_t i = 0; i < pages.size();) {
    std::size_t end = i + 1;
    while (end < pages.size() && pages[end].index == pages[end - 1].index + 1) end++;
    auto stretch = memory.subspan(std::size_t{pages[i].index} * kPageBytes, (end - i) * kPageBytes);
    prefer_huge_pages(stretch);
    populate(stretch);
    i = end;
  }
}

// Pages of a new instance that its data segments have filled and the image has as zero.
void clear_others(const MemoryWatch& watch, std::span<const ImagePage> pages, std::span<std::uint8_t> memory) {
  auto listed = pages.begin();
  each_present_page(watch, memory, [&](std::uint32_t index) {
    while (listed != pages.end() && listed->index < index) ++listed;
    if (listed == pages.end() || listed->index != index) std::memset(memory.data() + std::size_t{index} * kPageBytes, 0, kPageBytes);
  });
}

using StoredPages = std::unordered_map<Hash256, const ImagePage*>;

StoredPages stored_pages(std::span<const wire::Image> images) {
  StoredPages stored;
  for (const wire::Image& image : images) {
    for (const ImagePage& page : image.content().pages) {
      if (page.storage != Storage::in_parent) stored.emplace(page.hash, &page);
    }
  }
  return stored;
}

}  // namespace

std::vector<ImagePage> hash_pages(const MemoryWatch& watch, std::span<std::uint8_t> memory) {
  std::vector<ImagePage> pages;
  each_present_page(watch, memory, [&](std::uint32_t index) { append_if_not_zero(pages, memory, index); });
  return pages;
}

Result<std::unique_ptr<MemoryHistory>> MemoryHistory::begin(MemoryWatch& watch, std::span<std::uint8_t> memory) {
  GW_TRY(auto dirty, follow_writes(watch, memory.data(), memory.size()));
  return std::unique_ptr<MemoryHistory>(new MemoryHistory(std::move(dirty)));
}

Result<std::vector<ImagePage>> MemoryHistory::changed_pages(std::span<std::uint8_t> memory) {
  GW_TRY(auto changed, dirty_->collect(memory.size()));
  std::vector<ImagePage> pages;
  pages.reserve(pages_.size() + changed.size());
  auto old = pages_.begin();
  for (std::uint32_t index : changed) {
    for (; old != pages_.end() && old->index < index; ++old) pages.push_back(*old);
    if (old != pages_.end() && old->index == index) ++old;
    append_if_not_zero(pages, memory, index);
  }
  pages.insert(pages.end(), old, pages_.end());
  return pages;
}

void MemoryHistory::remember(const wire::Image& image) {
  id_ = image.id();
  pages_ = image.content().pages;
  for (ImagePage& page : pages_) {
    page.storage = Storage::in_parent;
    page.stored = {};
  }
}

Status load_pages(const MemoryWatch& watch, const wire::Image& image, std::span<const wire::Image> ancestors,
                  std::span<std::uint8_t> memory) {
  const auto& pages = image.content().pages;
  StoredPages stored = stored_pages(ancestors);
  clear_others(watch, pages, memory);
  populate_all(memory, pages);
  for (const ImagePage& page : pages) {
    const ImagePage* source = &page;
    if (page.storage == Storage::in_parent) {
      auto found = stored.find(page.hash);
      if (found == stored.end())
        return fail(Kind::not_found, "page {} of the image is in another image it builds on, which was not given", page.index);
      source = found->second;
    }
    GW_TRY_VOID(wire::load_page(*source, memory.subspan(std::size_t{page.index} * kPageBytes, kPageBytes)));
  }
  return ok();
}

void copy_pages(const MemoryWatch& watch, std::span<std::uint8_t> from, std::span<std::uint8_t> to) {
  std::vector<ImagePage> pages;
  each_present_page(watch, from, [&](std::uint32_t index) {
    if (!is_zero(page_at(from, index)))
      pages.push_back({.index = index, .hash = {}, .storage = Storage::raw, .stored = page_at(from, index)});
  });
  clear_others(watch, pages, to);
  populate_all(to, pages);
  for (const ImagePage& page : pages) std::memcpy(to.data() + std::size_t{page.index} * kPageBytes, page.stored.data(), kPageBytes);
}

}  // namespace gw::isolate
