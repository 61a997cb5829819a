#pragma once
// Marks for places that a simulation must come to: a test that passes because nothing happened should be seen.
//
//   GW_REACHED("home: a keeper was replaced");

#include <cstdint>
#include <span>

namespace gw {

struct Probe {
  const char* name;
  std::uint64_t hits;
};

// Every mark of the program; the linker has gathered them. A mark inside an inline function may be there more than once.
std::span<const Probe> probes();

}  // namespace gw

// Costs one addition. Only in code that runs on one thread.
#define GW_REACHED(text)                                                                          \
  do {                                                                                            \
    [[gnu::section("gw_probes"), gnu::used]] static constinit ::gw::Probe gw_probe = {(text), 0}; \
    ++gw_probe.hits;                                                                              \
  } while (false)
