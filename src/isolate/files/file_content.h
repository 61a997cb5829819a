#pragma once
// The bytes of one file, in pages that files of several isolates can share.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/image/image.h"

namespace gw::isolate {

using FilePage = std::array<std::uint8_t, wire::kPageBytes>;

// A value, cheap to copy: copies share their pages until one of them is written. Bytes past the size are always zero.
//
// Belongs to one thread; its copies may belong to others, since a shared page is never written. Knows no limit: the tree has them.
class FileContent {
 public:
  // No page: all zero. The hash is that of the page, if it is known.
  struct Slot {
    std::shared_ptr<FilePage> page;  // also of copies of this content
    std::optional<Hash256> hash;
  };

  static std::uint64_t pages_for(std::uint64_t bytes) { return bytes / wire::kPageBytes + (bytes % wire::kPageBytes != 0 ? 1 : 0); }

  std::uint64_t size() const { return size_; }
  // New bytes are zero.
  void resize(std::uint64_t size);
  // Returns how many bytes there were.
  std::size_t read(std::uint64_t offset, std::span<std::uint8_t> out) const;
  // Grows if need be.
  void write(std::uint64_t offset, ByteView bytes);

  // pages_for(size()) of them, for images.
  std::span<Slot> slots() { return slots_; }
  std::span<const Slot> slots() const { return slots_; }

 private:
  FilePage& writable(std::uint64_t index);

  std::uint64_t size_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace gw::isolate
