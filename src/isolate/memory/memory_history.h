#pragma once
// A guest's memory as pages of an image, and what is known of it from the last one.

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "isolate/memory/dirty_pages.h"
#include "isolate/memory/memory_watch.h"
#include "wire/image.h"

namespace gw::isolate {

// Of pages that are plain. Takes several threads if it is much.
void hash_all(std::span<wire::ImagePage> pages);

// For each page the one that holds its bytes, here or in an ancestor.
Result<std::vector<const wire::ImagePage*>> find_sources(std::span<const wire::ImagePage> pages, std::span<const wire::Image> ancestors);

// The pages of an image that belong to the memory; the rest is of files.
std::span<const wire::ImagePage> pages_of_memory(const wire::Image& image);

// All pages that are not zero, hashed; the views point into the memory. `shared`: those mapped from a snapshot (memory_snapshot.h).
std::vector<wire::ImagePage> hash_pages(const MemoryWatch& watch, std::span<std::uint8_t> memory, std::span<const std::uint32_t> shared);

// The image an isolate was last saved to, and the writes since. Belongs to the isolate's pool thread.
class MemoryHistory {
 public:
  static Result<std::unique_ptr<MemoryHistory>> begin(MemoryWatch& watch, std::span<std::uint8_t> memory);

  // All pages that are not zero: unchanged ones marked as elsewhere, changed ones hashed anew, their views pointing into the memory.
  // REQUIRES: remember() has been called.
  Result<std::vector<wire::ImagePage>> changed_pages(std::span<std::uint8_t> memory);

  // Takes down what has been written so far: before the memory is mapped anew, or copied. follow() goes on with the new mapping.
  Status note_writes(std::span<std::uint8_t> memory);
  Status follow(MemoryWatch& watch, std::span<std::uint8_t> memory);

  // For a copy of the memory as it was at note_writes(); begins with follow().
  std::unique_ptr<MemoryHistory> fork() const;

  // The state of now has been saved as `image`. Writes are counted from here.
  void remember(const wire::Image& image);
  const Hash256& image_id() const { return id_; }
  // Of the pages of files in the last image: these need not be saved again.
  const std::unordered_set<Hash256>& file_hashes() const { return file_hashes_; }

 private:
  explicit MemoryHistory(std::unique_ptr<DirtyPages> dirty) : dirty_(std::move(dirty)) {}

  std::unique_ptr<DirtyPages> dirty_;
  std::set<std::uint32_t> noted_;       // written since the last image, as far as collected
  std::vector<wire::ImagePage> pages_;  // of the memory in the last image, all marked elsewhere
  std::unordered_set<Hash256> file_hashes_;
  Hash256 id_;
};

// Brings a memory into the state of an image: pages stored there or in `ancestors` get their content, which is checked, others become zero.
Status load_pages(const MemoryWatch& watch, const wire::Image& image, std::span<const wire::Image> ancestors,
                  std::span<std::uint8_t> memory);

}  // namespace gw::isolate
