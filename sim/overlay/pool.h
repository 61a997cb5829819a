#pragma once
// A pool of objects that are named by numbers; numbers are reused.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gw::sim::overlay_simulation {

// Prefetches an object into the processor's caches.
inline void fetch_lines(const void* object, std::size_t size) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < size; at += kLine) __builtin_prefetch(static_cast<const char*>(object) + at);
}

// Events name the object they are about by a number, so that they stay small. A value.
template <class T>
class Pool {
 public:
  std::uint32_t put(T value) {
    if (free_.empty()) {
      items_.push_back(std::move(value));
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    items_[slot] = std::move(value);
    return slot;
  }
  T take(std::uint32_t slot) {
    free_.push_back(slot);
    return std::exchange(items_[slot], T());
  }
  T& at(std::uint32_t slot) { return items_[slot]; }
  const T& at(std::uint32_t slot) const { return items_[slot]; }

 private:
  std::vector<T> items_;
  std::vector<std::uint32_t> free_;
};

}  // namespace gw::sim::overlay_simulation
