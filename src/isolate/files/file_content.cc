#include "isolate/files/file_content.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace gw::isolate {

using wire::kPageBytes;

FilePage& FileContent::writable(std::uint64_t index) {
  Slot& slot = slots_[index];
  slot.hash.reset();
  if (!slot.page) {
    slot.page = std::make_shared<FilePage>();
  } else if (slot.page.use_count() > 1) {
    slot.page = std::make_shared<FilePage>(*slot.page);
  } else {
    std::atomic_thread_fence(std::memory_order_acquire);  // order after the last read of a former sharer on another thread
  }
  return *slot.page;
}

void FileContent::resize(std::uint64_t size) {
  slots_.resize(pages_for(size));
  std::size_t used = size % kPageBytes;
  if (size < size_ && used != 0 && slots_.back().page) {
    FilePage& last = writable(slots_.size() - 1);
    std::fill(last.begin() + static_cast<std::ptrdiff_t>(used), last.end(), std::uint8_t{0});
  }
  size_ = size;
}

std::size_t FileContent::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  if (offset >= size_) return 0;
  std::size_t wanted = std::min<std::uint64_t>(out.size(), size_ - offset);
  for (std::size_t done = 0; done < wanted;) {
    std::size_t within = (offset + done) % kPageBytes, part = std::min(kPageBytes - within, wanted - done);
    const Slot& slot = slots_[(offset + done) / kPageBytes];
    if (slot.page) {
      std::memcpy(out.data() + done, slot.page->data() + within, part);
    } else {
      std::memset(out.data() + done, 0, part);
    }
    done += part;
  }
  return wanted;
}

void FileContent::write(std::uint64_t offset, ByteView bytes) {
  if (bytes.empty()) return;
  if (offset + bytes.size() > size_) resize(offset + bytes.size());
  for (std::size_t done = 0; done < bytes.size();) {
    std::size_t within = (offset + done) % kPageBytes, part = std::min(kPageBytes - within, bytes.size() - done);
    std::memcpy(writable((offset + done) / kPageBytes).data() + within, bytes.data() + done, part);
    done += part;
  }
}

}  // namespace gw::isolate
