#pragma once
// The buffers a guest reads into or writes from in one call.

#include <array>
#include <cstdint>
#include <span>

#include "isolate/memory/guest_memory.h"
#include "isolate/wasi/wasi_errno.h"

namespace gw::isolate {

inline constexpr std::uint32_t kMaxVectors = 1024;

// All inside the guest's memory.
struct GuestBuffers {
  std::array<std::span<std::uint8_t>, kMaxVectors> list;
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;

  // Address and length of each buffer are at `vectors`. Looks at all of them before anything is moved.
  Errno load(GuestMemory memory, std::uint32_t vectors, std::uint32_t wanted) {
    if (wanted > kMaxVectors) return Errno::inval;
    auto entries = memory.span(vectors, wanted * 8);
    if (!entries) return Errno::fault;
    for (std::uint32_t i = 0; i < wanted; i++) {
      auto buffer = memory.span(memory.get<std::uint32_t>(vectors + 8 * i), memory.get<std::uint32_t>(vectors + 8 * i + 4));
      if (!buffer) return Errno::fault;
      list[count++] = *buffer;
      bytes += buffer->size();
    }
    return bytes > INT32_MAX ? Errno::inval : Errno::success;
  }
  std::span<const std::span<std::uint8_t>> all() const { return {list.data(), count}; }

  // Calls `move(offset, part)` for the bytes from `first` to `last`, buffer by buffer, until it says false.
  template <class Move>
  void each_part(std::uint64_t first, std::uint64_t last, Move move) const {
    std::uint64_t begin = 0;
    for (auto buffer : all()) {
      std::uint64_t end = begin + buffer.size();
      std::uint64_t from = std::max(begin, first), to = std::min(end, last);
      if (from < to && !move(from, buffer.subspan(from - begin, to - from))) return;
      begin = end;
    }
  }
};

}  // namespace gw::isolate
