#pragma once
// Asks the kernel which pages of a memory exist and which have been written.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/files/unique_fd.h"

namespace gw::isolate {

// Opens what it needs once, so that it works in a process that may not open files any more. Any thread.
//
// Where the kernel has them (6.7), it uses the PAGEMAP_SCAN ioctl and userfaultfd's asynchronous write protection, which need no
// privileges. Else present() reads /proc/self/pagemap or, without that, calls everything present, and writes cannot be tracked.
class MemoryWatch {
 public:
  // The best this kernel offers, or less for tests.
  enum class Use : std::uint8_t { everything, no_tracking, nothing };

  explicit MemoryWatch(Use use = Use::everything);

  // The descriptors that this object uses; they must stay open.
  std::vector<int> descriptors() const;

  // A range of whole 4 KiB pages.
  using Range = std::pair<std::uint8_t*, std::size_t>;
  using Visitor = std::function<void(std::uint8_t* start, std::size_t bytes)>;

  // Visits, in ascending order, parts that cover everything in the range that is not zero. What was never touched is not visited.
  void present(Range range, const Visitor& visit) const;

  // Visits, in ascending order, parts that cover everything written to a private mapping of a file since it was mapped, and everything of
  // ordinary memory that present() would visit.
  void not_of_file(Range range, const Visitor& visit) const;

  bool can_track() const { return static_cast<bool>(faults_); }
  // Begins to notice writes in the range. REQUIRES: can_track().
  Status track(Range range);
  // Visits what has been written since track() or the last call, and begins anew.
  Status written(Range range, const Visitor& visit) const;

 private:
  struct Query;
  Status scan(Range range, const Query& query, const Visitor& visit) const;
  enum class Entries : std::uint8_t { all, not_of_file };
  bool read_pagemap(Range range, Entries which, const Visitor& visit) const;

  os::UniqueFd pagemap_;
  os::UniqueFd faults_;  // userfaultfd; open only if everything needed for tracking works
  bool has_scan_ = false;
};

}  // namespace gw::isolate
