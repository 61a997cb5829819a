#pragma once
// Environment variables for a process that loads modules.

#include <string_view>

namespace gw::isolate {

// Settings of malloc, which only the start of a process can make; without them compiled code takes half as long again to load. V8 copies
// the module and puts a hundred thousand small objects beside its code, from the loader's thread. In an arena of that thread's own, glibc
// would ask the system for each page of them, and give each copy pages of its own; here all of it comes from one heap of large pages.
inline constexpr std::string_view kEngineEnvironment =
    "GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432:glibc.malloc.top_pad=8388608";

}  // namespace gw::isolate
