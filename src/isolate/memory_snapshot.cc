#include "isolate/memory_snapshot.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "isolate/memory_pages.h"
#include "wire/image.h"

namespace gw::isolate {
namespace {

using wire::kPageBytes;

constexpr std::size_t kMaxFilled = 256u << 10;
// So much of a memory exists twice while it moves into a snapshot. The pages a piece gives back serve the next: a tenth faster than all at
// once, and no faster when smaller.
constexpr std::size_t kPieceBytes = 8u << 20;

Error no_room(std::size_t bytes) {
  return fail(Kind::overloaded, "there is no room to share {} bytes of memory with a fork: {}", bytes, std::strerror(errno));
}

// Calls `visit` for each run of neighbouring pages.
template <class Visit>
void each_run(std::span<const std::uint32_t> pages, Visit visit) {
  for (std::size_t i = 0; i < pages.size();) {
    std::size_t end = i + 1;
    while (end < pages.size() && pages[end] == pages[end - 1] + 1) end++;
    visit(std::size_t{pages[i]} * kPageBytes, (end - i) * kPageBytes);
    i = end;
  }
}

Status write_at(int fd, std::size_t offset, ByteView bytes) {
  while (!bytes.empty()) {
    ssize_t count = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count <= 0) return no_room(bytes.size());
    offset += static_cast<std::size_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return ok();
}

}  // namespace

Result<std::shared_ptr<MemorySnapshot>> MemorySnapshot::make(std::size_t bytes) {
  os::UniqueFd fd(memfd_create("fork", MFD_CLOEXEC));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return no_room(bytes);
  return std::shared_ptr<MemorySnapshot>(new MemorySnapshot(std::move(fd), bytes));
}

Status MemorySnapshot::take_over(const MemoryWatch& watch, std::span<std::uint8_t> memory, const MemorySnapshot* below) {
  GW_ASSERT(memory.size() == bytes_ && pages_.empty());
  pages_ = pages_not_zero(watch, memory, below == nullptr ? std::span<const std::uint32_t>{} : below->pages());
  std::span<const std::uint32_t> rest = pages_;
  for (std::size_t offset = 0; offset < bytes_; offset += kPieceBytes) {
    const std::size_t bytes = std::min(kPieceBytes, bytes_ - offset);
    const auto behind = std::ranges::lower_bound(rest, (offset + bytes) / kPageBytes);
    const auto piece = rest.first(static_cast<std::size_t>(behind - rest.begin()));
    GW_TRY_VOID(write(memory, piece));
    GW_TRY_VOID(map(memory, offset, bytes));
    rest = rest.subspan(piece.size());
  }
  return ok();
}

Status MemorySnapshot::write(std::span<std::uint8_t> memory, std::span<const std::uint32_t> pages) const {
  Status written = ok();
  each_run(pages, [&](std::size_t offset, std::size_t bytes) {
    if (written) written = write_at(fd_.get(), offset, memory.subspan(offset, bytes));
  });
  return written;
}

Status MemorySnapshot::map(std::span<std::uint8_t> memory, std::size_t offset, std::size_t bytes) const {
  void* mapped = mmap(memory.data() + offset, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd_.get(),
                      static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return no_room(bytes);
  return ok();
}

Status MemorySnapshot::map_over(std::span<std::uint8_t> memory) const {
  GW_ASSERT(memory.size() >= bytes_);
  return map(memory, 0, bytes_);
}

Status MemorySnapshot::put_back(std::span<std::uint8_t> memory, const Ranges& written) const {
  std::size_t bytes = 0;
  for (const auto& range : written) bytes += range.size();
  for (const auto& range : written) {
    // A page that is dropped costs a fault when it is written again, as it will be by the next call: a few are better filled in place.
    auto offset = static_cast<off_t>(range.data() - memory.data());
    bool done = bytes > kMaxFilled ? madvise(range.data(), range.size(), MADV_DONTNEED) == 0
                                   : pread(fd_.get(), range.data(), range.size(), offset) == static_cast<ssize_t>(range.size());
    if (!done) return fail(Kind::internal, "memory cannot be put back: {}", std::strerror(errno));
  }
  return ok();
}

void MemorySnapshot::populate(std::span<std::uint8_t> memory) const {
  each_run(pages_, [&](std::size_t offset, std::size_t bytes) { (void)madvise(memory.data() + offset, bytes, MADV_POPULATE_READ); });
}

}  // namespace gw::isolate
