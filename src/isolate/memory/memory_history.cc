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
  const ByteView page = wire::without_end_zeros(page_at(memory, index));
  if (!page.empty()) pages.push_back({.index = index, .hash = {}, .storage = Storage::raw, .stored = page});
}

std::uint32_t node_of(const ImagePage& page) { return page.index / wire::kPagesPerNode; }

// Calls `visit(number, pages)` for each stretch of pages that belong to one node.
template <class Visit>
void each_node(std::span<const ImagePage> pages, Visit visit) {
  for (std::size_t first = 0; first < pages.size();) {
    std::size_t last = first + 1;
    while (last < pages.size() && node_of(pages[last]) == node_of(pages[first])) ++last;
    visit(node_of(pages[first]), pages.subspan(first, last - first));
    first = last;
  }
}

std::vector<wire::PageName> names_of(std::span<const ImagePage> pages) {
  std::vector<wire::PageName> names;
  names.reserve(pages.size());
  for (const ImagePage& page : pages) names.push_back({static_cast<std::uint8_t>(page.index % wire::kPagesPerNode), page.hash});
  return names;
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

// Announces the ranges of consecutive pages that are about to be filled.
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

Result<std::vector<ImagePage>> list_pages(const wire::Image& image, std::span<const wire::BlobPack> packs) {
  std::vector<ImagePage> pages = image.content().pages;
  if (image.content().nodes_elsewhere.empty()) return pages;
  GW_TRY(const wire::ImageRoot root, wire::decode_root(image.root()));
  for (const wire::NodeName& node : image.content().nodes_elsewhere) {
    const wire::StoredBlob* blob = nullptr;
    for (const wire::BlobPack& pack : packs)
      if (blob == nullptr) blob = pack.find(node.hash);
    if (blob == nullptr) return fail(Kind::not_found, "a part of the image is in another image it builds on, which was not given");
    if (blob->storage != Storage::raw || sha256(blob->stored) != node.hash) return wire::damaged_image("a node has another hash");
    GW_TRY(const std::vector<wire::PageName> names, wire::decode_node(blob->stored));
    GW_TRY_VOID(wire::check_node(root, node.number, names));
    for (const wire::PageName& name : names)
      pages.push_back(
          {.index = node.number * wire::kPagesPerNode + name.place, .hash = name.hash, .storage = Storage::elsewhere, .stored = {}});
  }
  std::ranges::sort(pages, {}, &ImagePage::index);
  return pages;
}

std::span<const ImagePage> pages_of_memory(std::span<const ImagePage> pages) {
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
  copy->nodes_ = nodes_;
  copy->file_hashes_ = file_hashes_;
  return copy;
}

void MemoryHistory::append_elsewhere(std::uint32_t number, const wire::PageName& page, std::vector<ImagePage>& pages) {
  pages.push_back({.index = number * wire::kPagesPerNode + page.place, .hash = page.hash, .storage = Storage::elsewhere, .stored = {}});
}

Result<ChangedPages> MemoryHistory::changed_pages(std::span<std::uint8_t> memory) {
  GW_TRY_VOID(note_writes(memory));
  const auto changed = std::exchange(noted_, {});
  ChangedPages changes;
  auto known = nodes_.begin();
  const auto leave_until = [&](std::uint32_t number) {
    for (; known != nodes_.end() && known->first < number; ++known)
      if (known->first < wire::kFirstFilePage / wire::kPagesPerNode) changes.nodes_elsewhere.push_back({known->first, known->second.hash});
  };
  for (auto index = changed.begin(); index != changed.end();) {
    const std::uint32_t number = *index / wire::kPagesPerNode;
    leave_until(number);
    std::vector<wire::PageName> before;
    if (known != nodes_.end() && known->first == number) before = (known++)->second.pages;
    auto old = before.begin();
    for (; index != changed.end() && *index / wire::kPagesPerNode == number; ++index) {
      const std::uint32_t place = *index % wire::kPagesPerNode;
      for (; old != before.end() && old->place < place; ++old) append_elsewhere(number, *old, changes.pages);
      if (old != before.end() && old->place == place) ++old;
      append_if_not_zero(changes.pages, memory, *index);
    }
    for (; old != before.end(); ++old) append_elsewhere(number, *old, changes.pages);
  }
  leave_until(wire::kMaxNodes);
  hash_all(changes.pages);
  return changes;
}

void MemoryHistory::add_file_pages(std::span<const ImagePage> pages, ChangedPages& changes) const {
  each_node(pages, [&](std::uint32_t number, std::span<const ImagePage> of_node) {
    const auto known = nodes_.find(number);
    const auto is_elsewhere = [](const ImagePage& page) { return page.storage == Storage::elsewhere; };
    if (known != nodes_.end() && std::ranges::all_of(of_node, is_elsewhere) && names_of(of_node) == known->second.pages) {
      changes.nodes_elsewhere.push_back({number, known->second.hash});
    } else {
      changes.pages.insert(changes.pages.end(), of_node.begin(), of_node.end());
    }
  });
}

void MemoryHistory::remember(std::span<const wire::NodeName> nodes, std::span<const ImagePage> pages) {
  std::map<std::uint32_t, std::vector<wire::PageName>> listed;
  each_node(pages, [&](std::uint32_t number, std::span<const ImagePage> of_node) { listed[number] = names_of(of_node); });
  std::map<std::uint32_t, KnownNode> before = std::exchange(nodes_, {});
  file_hashes_.clear();
  for (const wire::NodeName& node : nodes) {
    KnownNode& known = nodes_[node.number];
    if (const auto fresh = listed.find(node.number); fresh != listed.end()) {
      known = {node.hash, std::move(fresh->second)};
    } else {
      known = std::move(before.at(node.number));
    }
    if (node.number < wire::kFirstFilePage / wire::kPagesPerNode) continue;
    for (const wire::PageName& page : known.pages) file_hashes_.insert(page.hash);
  }
}

namespace {

// Pages that have their bytes now, into the memory.
Status load_here(std::span<const ImagePage> pages, std::span<std::uint8_t> memory) {
  std::mutex mutex;
  Status done = ok();  // or one of the errors; guarded by mutex
  const auto target = [&](const ImagePage& page) {
    auto place = memory.subspan(std::size_t{page.index} * kPageBytes, kPageBytes);
    populate(place);
    return place;
  };
  in_parts(pages.size(), [&](std::size_t first, std::size_t last) {
    for (; first < last; first += 2) {
      const wire::PageLoad page{pages[first], target(pages[first])};
      Status loaded = first + 1 < last ? load_both(page, {pages[first + 1], target(pages[first + 1])}) : load_page(page.page, page.out);
      if (loaded) continue;
      std::lock_guard lock(mutex);
      done = std::move(loaded);
    }
  });
  return done;
}

}  // namespace

Status load_pages(const MemoryWatch& watch, std::span<const ImagePage> pages, std::span<wire::BlobPack> packs,
                  std::span<std::uint8_t> memory) {
  clear_others(watch, pages, memory);
  announce_all(memory, pages);
  std::vector<ImagePage> here;
  std::unordered_multimap<Hash256, std::uint32_t> wanted;  // indices of pages that are in a pack
  for (const ImagePage& page : pages) {
    if (page.storage != Storage::elsewhere) {
      here.push_back(page);
    } else {
      wanted.emplace(page.hash, page.index);
    }
  }
  GW_TRY_VOID(load_here(here, memory));
  for (wire::BlobPack& pack : packs) {
    here.clear();
    for (const wire::StoredBlob& blob : pack.blobs()) {
      const auto [first, last] = wanted.equal_range(blob.hash);
      for (auto found = first; found != last; ++found)
        here.push_back({.index = found->second, .hash = blob.hash, .storage = blob.storage, .stored = blob.stored});
      wanted.erase(first, last);
    }
    GW_TRY_VOID(load_here(here, memory));
    pack = wire::BlobPack();
  }
  if (wanted.empty()) return ok();
  return fail(Kind::not_found, "page {} of the image is in another image it builds on, which was not given", wanted.begin()->second);
}

}  // namespace gw::isolate
