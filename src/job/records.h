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
  input = 'I',
  mail = 'M',
  mail_mark = 'A',
  watch = 'W',
  task_file = 'F',
  suspension = 'S',
  balance = 'B',
  consumer_balance = 'C'
};

struct RecordKey {
  RecordKind kind;
  JobId job;        // peers, grid: a grid; balances: a peer
  ThreadId thread;  // all but job, counters, output, suspension, peers, grid and balance; of a consumer's balance, the beginning of his key
  std::uint64_t number = 0;  // determinants: index of the first. input, task_file: piece. mail: its number. watch: the watching thread

  std::string encode() const;
  // The key of a record that says that records of grids are lost: no grid has this id.
  static RecordKey lost_grids() { return {.kind = RecordKind::grid, .job = {}, .thread = {}}; }
  // The common prefix of all keys of this kind and job.
  std::string prefix() const;
  // Kind::corrupt if these bytes are not a record key.
  static Result<RecordKey> decode(std::string_view bytes);
};

}  // namespace gw::job
