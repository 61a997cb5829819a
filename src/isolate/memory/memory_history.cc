#include "isolate/memory/memory_history.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "isolate/memory/memory_pages.h"
#include "isolate/memory/page_advice.h"

namespace gw::isolate {
namespace {

using wire::ImagePage;
using wire::kPageBytes;
using wire::Storage;

ByteView page_at(std::span<std::uint8_t> memory, std::uint32_t index) {
  return memory.subspan(std::size_t{index} * kPageBytes, kPageBytes);
}

// The hash is left to hash_all().
void append_if_not_zero(std::vector<ImagePage>& pages, std::span<std::uint8_t> memory, std::uint32_t index) {
  ByteView page = page_at(memory, index);
  if (!is_zero(page)) pages.push_back({.index = index, .hash = {}, .storage = Storage::raw, .stored = page});
}

// Below this many pages a second thread is not worth starting.
constexpr std::size_t kPagesPerThread = 64;
constexpr std::size_t kMaxThreads = 4;

// Calls `work` for all of [0, count), in parts [first, last) on several threads if it is much: hashing takes most of the time of a save or
// restore, and pages do not depend on each other.
template <class Work>
void in_parts(std::size_t count, Work work) {
  std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::size_t parts = std::clamp<std::size_t>(count / kPagesPerThread, 1, std::min(kMaxThreads, cores));
  std::vector<std::jthread> threads;
  for (std::size_t part = 1; part < parts; part++) threads.emplace_back([=] { work(part * count / parts, (part + 1) * count / parts); });
  work(0, count / parts);
}

// What is about to be filled, by stretches.
void announce_all(std::span<std::uint8_t> memory, std::span<const ImagePage> pages) {
  for (std::size_t i = 0; i < pages.size();) {
    std::size_t end = i + 1;
    while (end < pages.size() && pages[end].index == pages[end - 1].index + 1) end++;
    auto stretch = memory.subspan(std::size_t{pages[i].index} * kPageBytes, (end - i) * kPageBytes);
    prefer_huge_pages(stretch);
    i = end;
  }
}

// Pages of a new instance that its data segments have filled and the image has as zero.
void clear_others(const MemoryWatch& watch, std::span<const ImagePage> pages, std::span<std::uint8_t> memory) {
  auto listed = pages.begin();
  for (std::uint32_t index : pages_present(watch, memory)) {
    while (listed != pages.end() && listed->index < index) ++listed;
    if (listed == pages.end() || listed->index != index) std::memset(memory.data() + std::size_t{index} * kPageBytes, 0, kPageBytes);
  }
}

}  // namespace

void hash_all(std::span<ImagePage> pages) {
  std::vector<ImagePage*> raw;
  for (ImagePage& page : pages) {
    if (page.storage == Storage::raw) raw.push_back(&page);
  }
  in_parts(raw.size(), [&raw](std::size_t first, std::size_t last) {
    for (; first + 1 < last; first += 2)
      std::tie(raw[first]->hash, raw[first + 1]->hash) = sha256_both(raw[first]->stored, raw[first + 1]->stored);
    if (first < last) raw[first]->hash = sha256(raw[first]->stored);
  });
}

Result<std::vector<const ImagePage*>> find_sources(std::span<const ImagePage> pages, std::span<const wire::Image> ancestors) {
  std::unordered_map<Hash256, const ImagePage*> stored;
  for (const wire::Image& image : ancestors) {
    for (const ImagePage& page : image.content().pages) {
      if (page.storage != Storage::elsewhere) stored.emplace(page.hash, &page);
    }
  }
  std::vector<const ImagePage*> sources;
  for (const ImagePage& page : pages) {
    auto found = page.storage == Storage::elsewhere ? stored.find(page.hash) : stored.end();
    if (page.storage == Storage::elsewhere && found == stored.end())
      return fail(Kind::not_found, "page {} of the image is in another image it builds on, which was not given", page.index);
    sources.push_back(found == stored.end() ? &page : found->second);
  }
  return sources;
}

std::span<const ImagePage> pages_of_memory(const wire::Image& image) {
  std::span<const ImagePage> pages = image.content().pages;
  auto first_of_files = std::ranges::lower_bound(pages, wire::kFirstFilePage, {}, &ImagePage::index);
  return pages.first(static_cast<std::size_t>(first_of_files - pages.begin()));
}

std::vector<ImagePage> hash_pages(const MemoryWatch& watch, std::span<std::uint8_t> memory, std::span<const std::uint32_t> shared) {
  std::vector<ImagePage> pages;
  for (std::uint32_t index : pages_present(watch, memory, shared)) append_if_not_zero(pages, memory, index);
  hash_all(pages);
  return pages;
}

Result<std::unique_ptr<MemoryHistory>> MemoryHistory::begin(MemoryWatch& watch, std::span<std::uint8_t> memory) {
  GW_TRY(auto dirty, follow_writes(watch, memory.data(), memory.size()));
  return std::unique_ptr<MemoryHistory>(new MemoryHistory(std::move(dirty)));
}

Status MemoryHistory::note_writes(std::span<std::uint8_t> memory) {
  GW_TRY(auto written, dirty_->collect(memory.size()));
  noted_.insert(written.begin(), written.end());
  return ok();
}

Status MemoryHistory::follow(MemoryWatch& watch, std::span<std::uint8_t> memory) {
  GW_TRY(dirty_, follow_writes(watch, memory.data(), memory.size()));
  return ok();
}

std::unique_ptr<MemoryHistory> MemoryHistory::fork() const {
  auto copy = std::unique_ptr<MemoryHistory>(new MemoryHistory(nullptr));
  copy->noted_ = noted_;
  copy->pages_ = pages_;
  copy->file_hashes_ = file_hashes_;
  copy->id_ = id_;
  return copy;
}

Result<std::vector<ImagePage>> MemoryHistory::changed_pages(std::span<std::uint8_t> memory) {
  GW_TRY_VOID(note_writes(memory));
  const auto changed = std::exchange(noted_, {});
  std::vector<ImagePage> pages;
  pages.reserve(pages_.size() + changed.size());
  auto old = pages_.begin();
  for (std::uint32_t index : changed) {
    for (; old != pages_.end() && old->index < index; ++old) pages.push_back(*old);
    if (old != pages_.end() && old->index == index) ++old;
    append_if_not_zero(pages, memory, index);
  }
  pages.insert(pages.end(), old, pages_.end());
  hash_all(pages);
  return pages;
}

void MemoryHistory::remember(const wire::Image& image) {
  id_ = image.id();
  auto of_memory = pages_of_memory(image);
  pages_.assign(of_memory.begin(), of_memory.end());
  for (ImagePage& page : pages_) {
    page.storage = Storage::elsewhere;
    page.stored = {};
  }
  file_hashes_.clear();
  for (const ImagePage& page : std::span(image.content().pages).subspan(of_memory.size())) file_hashes_.insert(page.hash);
}

Status load_pages(const MemoryWatch& watch, const wire::Image& image, std::span<const wire::Image> ancestors,
                  std::span<std::uint8_t> memory) {
  auto pages = pages_of_memory(image);
  GW_TRY(auto sources, find_sources(pages, ancestors));
  clear_others(watch, pages, memory);
  announce_all(memory, pages);
  std::mutex mutex;
  Status done = ok();  // or one of the errors; guarded by mutex
  const auto target = [&](std::size_t i) {
    auto page = memory.subspan(std::size_t{pages[i].index} * kPageBytes, kPageBytes);
    populate(page);
    return page;
  };
  in_parts(pages.size(), [&](std::size_t first, std::size_t last) {
    for (; first < last; first += 2) {
      const wire::PageLoad page{*sources[first], target(first)};
      Status loaded = first + 1 < last ? load_both(page, {*sources[first + 1], target(first + 1)}) : load_page(page.page, page.out);
      if (loaded) continue;
      std::lock_guard lock(mutex);
      done = std::move(loaded);
    }
  });
  return done;
}

}  // namespace gw::isolate
