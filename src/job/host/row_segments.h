#pragma once
// The segments of an array's rows that a host has read.

#include <cstddef>
#include <cstdint>
#include <list>

#include "base/result.h"
#include "wire/worker.pb.h"

namespace gw::job {

// Decoded segments by number; the one used least recently makes room for a new one. A segment that cannot be read is kept as the error that
// says why, since every host finds the same. A value without threads.
class RowSegments {
 public:
  using Rows = Result<wire::pb::TaskRows>;
  static constexpr std::size_t kMost = 4;  // of 1 MiB, and a few times that when decoded

  // nullptr: it is not here. Good until the next add().
  const Rows* find(std::uint32_t segment);
  void add(std::uint32_t segment, Rows rows);

 private:
  struct Entry {
    std::uint32_t segment;
    Rows rows;
  };
  std::list<Entry> entries_;  // used last comes first
};

}  // namespace gw::job
