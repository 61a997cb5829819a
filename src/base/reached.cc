#include "base/reached.h"

// Set by the linker around the section; absent when no mark is linked in.
extern "C" {
[[gnu::weak]] extern const gw::Probe __start_gw_probes[];
[[gnu::weak]] extern const gw::Probe __stop_gw_probes[];
}

namespace gw {

std::span<const Probe> probes() { return {__start_gw_probes, __stop_gw_probes}; }

}  // namespace gw
