#include "job/thread_id.h"

#include "base/bytes.h"
#include "base/hash.h"

namespace gw::job {

ThreadId child_of(ThreadId parent, std::uint64_t sequence) {
  ByteWriter name;
  name.u64(parent.value());
  name.u64(sequence);
  const Hash256 hash = sha256(name.take());
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= std::uint64_t{hash.bytes[i]} << (8 * i);
  // 0 names no thread and 1 is main.
  return ThreadId{value > kMainThread.value() ? value : value + 2};
}

ThreadId thread_of_task(std::uint32_t task, std::uint32_t tasks) { return tasks == 1 ? kMainThread : child_of(kMainThread, task + 1); }

}  // namespace gw::job
