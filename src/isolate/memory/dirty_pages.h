#pragma once
// Which pages of a guest's memory have changed since it was last saved.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "isolate/memory/memory_watch.h"

namespace gw::isolate {

// Follows one memory. Pages are those of wasm, 64 KiB. Belongs to the isolate's pool thread; used while the isolate is stopped.
class DirtyPages {
 public:
  virtual ~DirtyPages() = default;

  // Ascending indices of pages in [0, bytes) that may have changed since the object was made or collect() was last called. `bytes` is the
  // size of the memory now; what has been added to it counts as changed.
  virtual Result<std::vector<std::uint32_t>> collect(std::size_t bytes) = 0;
};

// By the kernel's write protection where it can, at 1.7 us for the first write to each 4 KiB, else by comparing with a copy.
Result<std::unique_ptr<DirtyPages>> follow_writes(MemoryWatch& watch, std::uint8_t* base, std::size_t bytes);

}  // namespace gw::isolate
