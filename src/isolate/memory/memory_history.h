#pragma once
// A guest's memory as pages of an image, and what is known of it from the last one.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "isolate/memory/dirty_pages.h"
#include "isolate/memory/memory_watch.h"
#include "wire/image/image.h"

namespace gw::isolate {

// Hashes pages that are plain. Uses several threads if there are many.
void hash_all(std::span<wire::ImagePage> pages);

// All pages of an image, ascending, also those of nodes that are in one of the packs. Kind::not_found if a node is nowhere.
Result<std::vector<wire::ImagePage>> list_pages(const wire::Image& image, std::span<const wire::BlobPack> packs);

// The pages that belong to the memory; the rest is of files.
std::span<const wire::ImagePage> pages_of_memory(std::span<const wire::ImagePage> pages);

// All pages that are not zero, hashed; the views point into the memory. `shared`: those mapped from a snapshot (memory_snapshot.h).
std::vector<wire::ImagePage> hash_pages(const MemoryWatch& watch, std::span<std::uint8_t> memory, std::span<const std::uint32_t> shared);

// The memory part of an incremental image: the changes since the image before.
struct ChangedPages {
  std::vector<wire::ImagePage> pages;           // of the nodes with a change: changed ones hashed anew, the others elsewhere
  std::vector<wire::NodeName> nodes_elsewhere;  // all others
};

// The image an isolate was last saved to or restored from, and the writes since: what a save costs depends on the writes, not on the size
// of the memory. Belongs to the isolate's pool thread.
class MemoryHistory {
 public:
  static Result<std::unique_ptr<MemoryHistory>> begin(MemoryWatch& watch, std::span<std::uint8_t> memory);

  // The views of changed pages point into the memory. REQUIRES: remember() has been called.
  Result<ChangedPages> changed_pages(std::span<std::uint8_t> memory);
  // Moves pages of files that are as in the last image, node by node, to the nodes elsewhere. `pages`: all of the files.
  void add_file_pages(std::span<const wire::ImagePage> pages, ChangedPages& changes) const;

  // Takes down what has been written so far: before the memory is mapped anew, or copied. follow() goes on with the new mapping.
  Status note_writes(std::span<std::uint8_t> memory);
  Status follow(MemoryWatch& watch, std::span<std::uint8_t> memory);

  // For a copy of the memory as it was at note_writes(); begins with follow().
  std::unique_ptr<MemoryHistory> fork() const;

  // The state of now is in an image with these nodes. `pages`: those of all nodes that are not as in the image before. Writes are counted
  // from here.
  void remember(std::span<const wire::NodeName> nodes, std::span<const wire::ImagePage> pages);
  // The hashes of file pages in the last image: these pages need not be saved again.
  const std::unordered_set<Hash256>& file_hashes() const { return file_hashes_; }

 private:
  struct KnownNode {
    Hash256 hash;
    std::vector<wire::PageName> pages;
  };

  explicit MemoryHistory(std::unique_ptr<DirtyPages> dirty) : dirty_(std::move(dirty)) {}
  static void append_elsewhere(std::uint32_t number, const wire::PageName& page, std::vector<wire::ImagePage>& pages);

  std::unique_ptr<DirtyPages> dirty_;
  std::set<std::uint32_t> noted_;             // written since the last image, as far as collected
  std::map<std::uint32_t, KnownNode> nodes_;  // of the last image
  std::unordered_set<Hash256> file_hashes_;
};

// Brings a memory into the state of an image, whose pages of the memory these are: they get their content, which is checked, from the image
// itself or from a pack; others become zero. A pack is let go when its pages are loaded, so that never two copies of a large memory exist.
Status load_pages(const MemoryWatch& watch, std::span<const wire::ImagePage> pages, std::span<wire::BlobPack> packs,
                  std::span<std::uint8_t> memory);

}  // namespace gw::isolate
