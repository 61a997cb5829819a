#include "job/thread_id.h"

#include "base/bytes.h"
#include "base/hash.h"

namespace gw::job {
namespace {

constexpr std::uint64_t kFirstTask = 2;
constexpr std::uint64_t kFirstChild = std::uint64_t{1} << 33;  // behind the last task

}  // namespace

ThreadId child_of(ThreadId parent, std::uint64_t sequence) {
  ByteWriter name;
  name.u64(parent.value());
  name.u64(sequence);
  const Hash256 hash = sha256(name.take());
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= std::uint64_t{hash.bytes[i]} << (8 * i);
  return ThreadId{value >= kFirstChild ? value : value + kFirstChild};
}

ThreadId thread_of_task(std::uint32_t task, std::uint32_t tasks) { return tasks == 1 ? kMainThread : ThreadId{kFirstTask + task}; }

std::optional<std::uint32_t> task_of_thread(ThreadId thread, std::uint32_t tasks) {
  if (tasks == 1) return thread == kMainThread ? std::optional(0u) : std::nullopt;
  if (thread.value() < kFirstTask || thread.value() - kFirstTask >= tasks) return std::nullopt;
  return static_cast<std::uint32_t>(thread.value() - kFirstTask);
}

}  // namespace gw::job
