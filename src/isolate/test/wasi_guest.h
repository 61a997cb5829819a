#pragma once
// A guest memory and host for tests of WASI calls without an engine. No GTest here: the fuzzer uses it too.

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "isolate/wasi/wasi.h"

namespace gw::isolate::test {

// A guest without code: a memory, and addresses in it for arguments and results of calls.
class WasiGuest {
 public:
  static constexpr std::uint32_t kRootFd = 3;
  static constexpr std::uint32_t kOut = 8, kVector = 16, kPath = 1000, kOther = 2000;

  WasiGuest(std::size_t memory_bytes, HostClock& clock, ChunkSource& chunks, const Limits& limits)
      : bytes(memory_bytes), limits(limits), clock_(clock), chunks_(chunks) {
    start({});
  }

  void start(WasiState state) {
    gate_.emplace(clock_, determinants_);
    wasi.emplace(std::move(state), Wasi::World{input_, output, errors, *gate_, determinants_, chunks_}, limits);
  }

  // Moves the state as into another process: encoded, except for the content of files, which travels in pages.
  void move() {
    WasiState before = wasi->saved_state();
    const Bytes encoded = encode(before);
    auto after = decode_wasi_state(encoded);
    GW_ASSERT(after.has_value() && encode(*after) == encoded && after->files.pages() == before.files.pages());
    std::vector<FileContent> contents;
    before.files.each_content([&](FileContent& content) { contents.push_back(content); });
    auto next = contents.begin();
    after->files.each_content([&](FileContent& content) { content = *next++; });
    start(*std::move(after));
  }

  // Puts text into its memory; returns its length.
  std::uint32_t put(std::uint32_t address, std::string_view text) {
    std::ranges::copy(text, bytes.begin() + address);
    return static_cast<std::uint32_t>(text.size());
  }
  std::uint32_t out() const { return memory.get<std::uint32_t>(kOut); }

  Bytes bytes;
  GuestMemory memory{bytes.data(), bytes.size()};
  MemorySink output, errors;
  Limits limits;  // since the last start
  std::optional<Wasi> wasi;

 private:
  HostClock& clock_;
  ChunkSource& chunks_;
  LiveDeterminants determinants_;
  EmptyInput input_;
  std::optional<ClockGate> gate_;
};

}  // namespace gw::isolate::test
