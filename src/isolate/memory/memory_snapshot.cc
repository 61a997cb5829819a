#include "isolate/memory/memory_snapshot.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "isolate/memory/memory_pages.h"
#include "wire/image/image.h"

namespace gw::isolate {
namespace {

using wire::kPageBytes;

constexpr std::size_t kMaxFilled = 256u << 10;
// The size of the pieces in which a memory moves into a snapshot; one piece exists twice meanwhile. The pages a piece gives back serve the
// next: a tenth faster than all at once, and no faster when smaller.
constexpr std::size_t kPieceBytes = 8u << 20;
// Less than this is not worth a second thread.
constexpr std::size_t kMinShared = 4u << 20;

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

Status MemorySnapshot::map(std::span<std::uint8_t> memory, const Part& part) {
  if (part.bytes == 0) return ok();
  void* mapped = mmap(memory.data() + part.offset, part.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, part.fd,
                      static_cast<off_t>(part.offset_in_file));
  return mapped == MAP_FAILED ? Status(no_room(part.bytes)) : ok();
}

Result<std::shared_ptr<MemorySnapshot>> MemorySnapshot::make(std::size_t bytes) {
  const std::size_t first = bytes < kMinShared ? bytes : bytes / kPageBytes / 2 * kPageBytes;
  std::array<os::UniqueFd, 2> halves;
  for (std::size_t half = 0; half < 2; half++) {
    halves[half] = os::UniqueFd(memfd_create("fork", MFD_CLOEXEC));
    const std::size_t length = half == 0 ? first : bytes - first;
    if (!halves[half] || ftruncate(halves[half].get(), static_cast<off_t>(length)) != 0) return no_room(bytes);
  }
  return std::shared_ptr<MemorySnapshot>(new MemorySnapshot(std::move(halves), first, bytes));
}

std::array<MemorySnapshot::Part, 2> MemorySnapshot::parts(std::size_t offset, std::size_t bytes) const {
  const std::size_t end = offset + bytes;
  const std::size_t middle = std::clamp(first_, offset, end);
  return {Part{halves_[0].get(), offset, middle - offset, offset},
          Part{halves_[1].get(), middle, end - middle, middle - std::min(middle, first_)}};
}

Status MemorySnapshot::take_over(const MemoryWatch& watch, std::span<std::uint8_t> memory, const MemorySnapshot* below) {
  GW_ASSERT(memory.size() == bytes_ && pages_.empty());
  pages_ = pages_not_zero(watch, memory, below == nullptr ? std::span<const std::uint32_t>{} : below->pages());
  const auto [first, second] = parts(0, bytes_);
  if (second.bytes == 0) return take_over(memory, first);
  Status second_taken = ok();
  std::jthread other([&] { second_taken = take_over(memory, second); });
  const Status first_taken = take_over(memory, first);
  other.join();
  return first_taken ? second_taken : first_taken;
}

Status MemorySnapshot::take_over(std::span<std::uint8_t> memory, const Part& half) const {
  for (std::size_t done = 0; done < half.bytes; done += kPieceBytes) {
    const std::size_t bytes = std::min(kPieceBytes, half.bytes - done);
    const Part piece{half.fd, half.offset + done, bytes, half.offset_in_file + done};
    GW_TRY_VOID(write(memory, piece));
    GW_TRY_VOID(map(memory, piece));
  }
  return ok();
}

Status MemorySnapshot::write(std::span<std::uint8_t> memory, const Part& part) const {
  const auto begin = std::ranges::lower_bound(pages_, part.offset / kPageBytes);
  const auto end = std::ranges::lower_bound(begin, pages_.end(), (part.offset + part.bytes) / kPageBytes);
  Status written = ok();
  each_run({begin, end}, [&](std::size_t offset, std::size_t bytes) {
    if (written) written = write_at(part.fd, part.offset_in_file + (offset - part.offset), memory.subspan(offset, bytes));
  });
  return written;
}

Status MemorySnapshot::map_over(std::span<std::uint8_t> memory) const {
  GW_ASSERT(memory.size() >= bytes_);
  for (const Part& part : parts(0, bytes_)) GW_TRY_VOID(map(memory, part));
  return ok();
}

Status MemorySnapshot::put_back(std::span<std::uint8_t> memory, const Ranges& written) const {
  std::size_t bytes = 0;
  for (const auto& range : written) bytes += range.size();
  for (const auto& range : written) {
    // A page that is dropped costs a fault when it is written again, as it will be by the next call: a few are better filled in place.
    const bool done = bytes > kMaxFilled ? madvise(range.data(), range.size(), MADV_DONTNEED) == 0 : fill(memory, range);
    if (!done) return fail(Kind::internal, "memory cannot be put back: {}", std::strerror(errno));
  }
  return ok();
}

bool MemorySnapshot::fill(std::span<std::uint8_t> memory, std::span<std::uint8_t> range) const {
  return std::ranges::all_of(parts(static_cast<std::size_t>(range.data() - memory.data()), range.size()), [&](const Part& part) {
    return pread(part.fd, memory.data() + part.offset, part.bytes, static_cast<off_t>(part.offset_in_file)) ==
           static_cast<ssize_t>(part.bytes);
  });
}

void MemorySnapshot::populate(std::span<std::uint8_t> memory) const {
  each_run(pages_, [&](std::size_t offset, std::size_t bytes) { (void)madvise(memory.data() + offset, bytes, MADV_POPULATE_READ); });
}

}  // namespace gw::isolate
