#include "wire/messages/limits.h"

#include <algorithm>

#include "wire/image/image_tree.h"

namespace gw::wire {
namespace {

// Part of the unwind stack is not counted as memory (isolate/limits.h).
constexpr std::uint64_t kUncountedMemory = 64u << 20;
// A blob of an image has a hash, a length and a place beside its bytes.
constexpr std::uint64_t kBytesPerBlob = 64;

}  // namespace

std::uint64_t effective_memory_pages(const pb::Limits& limits) {
  return limits.memory_pages() != 0 ? std::min<std::uint64_t>(limits.memory_pages(), kMaxMemoryPages) : kDefaultMemoryPages;
}

std::uint64_t effective_output_bytes(const pb::Limits& limits) {
  return limits.output_bytes() != 0 ? limits.output_bytes() : kDefaultOutputBytes;
}

std::uint64_t effective_file_bytes(const pb::Limits& limits) {
  const std::uint64_t memory = effective_memory_pages(limits) * kPageBytes;
  const std::uint64_t bytes = limits.file_bytes() != 0 ? limits.file_bytes() : std::max(kDefaultFileBytes, memory);
  return std::min(bytes, std::uint64_t{kMaxFilePages} * kPageBytes);
}

std::uint64_t largest_image_bytes(const pb::Limits& limits) {
  const std::uint64_t pages = effective_memory_pages(limits) * kPageBytes + kUncountedMemory + effective_file_bytes(limits);
  const std::uint64_t blobs = pages / kPageBytes + kMaxNodes + (kMaxWasiStateBytes + kMaxJobStateBytes) / kStatePieceBytes;
  return pages + kMaxRootBytes + std::uint64_t{kMaxNodes} * kMaxNodeBytes + kMaxWasiStateBytes + kMaxJobStateBytes + blobs * kBytesPerBlob;
}

}  // namespace gw::wire
