#pragma once
// Keys of the records a peer writes. Big-endian numbers, so that keys of one thread ascend.

#include <cstdint>
#include <string>
#include <string_view>

#include "job/names.h"

namespace gw::job {

enum class RecordKind : char {
  job = 'J',
  counters = 'P',
  thread = 'T',
  output = 'O',
  kept = 'K',
  determinants = 'D',
  peers = 'N',
  grid = 'G',
  input = 'I'
};

struct RecordKey {
  RecordKind kind;
  JobId job;                 // peers, grid: a grid
  ThreadId thread;           // all but job, counters, output, peers and grid
  std::uint64_t number = 0;  // determinants: index of the first. input: piece

  std::string encode() const;
  // With what all keys of this kind and job begin.
  std::string prefix() const;
  // Kind::corrupt if these bytes are no key of ours.
  static Result<RecordKey> decode(std::string_view bytes);
};

}  // namespace gw::job
