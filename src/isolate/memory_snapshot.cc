#include "isolate/memory_snapshot.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "isolate/memory_pages.h"
#include "wire/image.h"

namespace gw::isolate {
namespace {

using wire::kPageBytes;

constexpr std::size_t kMaxFilled = 256u << 10;

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

Result<std::shared_ptr<const MemorySnapshot>> MemorySnapshot::take(const MemoryWatch& watch, std::span<std::uint8_t> memory,
                                                                   const MemorySnapshot* below) {
  os::UniqueFd fd(memfd_create("fork", MFD_CLOEXEC));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(memory.size())) != 0) return no_room(memory.size());
  auto pages = pages_not_zero(watch, memory, below == nullptr ? std::span<const std::uint32_t>{} : below->pages());
  Status written = ok();
  each_run(pages, [&](std::size_t offset, std::size_t bytes) {
    if (written) written = write_at(fd.get(), offset, memory.subspan(offset, bytes));
  });
  if (!written) return written.error();
  return std::shared_ptr<const MemorySnapshot>(new MemorySnapshot(std::move(fd), memory.size(), std::move(pages)));
}

Status MemorySnapshot::map_over(std::span<std::uint8_t> memory) const {
  GW_ASSERT(memory.size() >= bytes_);
  void* mapped = mmap(memory.data(), bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd_.get(), 0);
  if (mapped == MAP_FAILED) return no_room(bytes_);
  return ok();
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
