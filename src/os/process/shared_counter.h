#pragma once
// Numbers that two processes see, also when one of them has died.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "os/files/unique_fd.h"

namespace gw::os {

// Memory with one counter and kCells cells in it. The other process may be hostile: it can set any value, but cannot remove the memory.
// The counter is only used in a sentence for users; a reader checks what a cell says.
class SharedCounter {
 public:
  static constexpr std::size_t kCells = 1024;

  static Result<SharedCounter> make();
  // From the descriptor of one made by another process.
  static Result<SharedCounter> attach(UniqueFd fd);
  SharedCounter(SharedCounter&& other) noexcept;
  SharedCounter& operator=(SharedCounter&&) = delete;
  ~SharedCounter();

  int fd() const { return fd_.get(); }
  void add(std::int32_t change) { numbers_->counter.fetch_add(change, std::memory_order_relaxed); }
  std::int32_t value() const { return numbers_->counter.load(std::memory_order_relaxed); }

  // Cells are 0 at first. REQUIRES: index < kCells.
  void set_cell(std::size_t index, std::uint64_t value) { numbers_->cells[index].store(value, std::memory_order_relaxed); }
  std::uint64_t cell(std::size_t index) const { return numbers_->cells[index].load(std::memory_order_relaxed); }

 private:
  struct Numbers {
    std::atomic<std::int32_t> counter;
    std::array<std::atomic<std::uint64_t>, kCells> cells;
  };
  static_assert(std::atomic<std::int32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);
  SharedCounter(UniqueFd fd, Numbers* numbers) : fd_(std::move(fd)), numbers_(numbers) {}

  UniqueFd fd_;
  Numbers* numbers_;
};

}  // namespace gw::os
