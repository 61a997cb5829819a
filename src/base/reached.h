#pragma once
// Marks for places that a simulation must come to: a test that passes because nothing happened should be seen.
//
//   GW_REACHED("home: a keeper was replaced");

#include <atomic>
#include <cstdint>
#include <span>

namespace gw {

struct Probe {
  const char* name;
  std::atomic<std::uint64_t> hits;

  // Threads that arrive together may count as one: only whether the mark was reached matters, and the count must cost nothing.
  void reach() { hits.store(hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};

// Every mark of the program; the linker has gathered them. A mark inside an inline function may be there more than once.
std::span<const Probe> probes();

}  // namespace gw

// Costs one addition.
#define GW_REACHED(text)                                                                          \
  do {                                                                                            \
    [[gnu::section("gw_probes"), gnu::used]] static constinit ::gw::Probe gw_probe = {(text), 0}; \
    gw_probe.reach();                                                                             \
  } while (false)
