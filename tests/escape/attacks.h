#pragma once
// Attacks of a guest that has broken out of the engine, as native code in the caged process.

#include <span>
#include <string_view>

namespace gw::test {

// The targets of the attacks; the test prepares them outside the cage.
struct Targets {
  int tcp_port;               // of a listener on 127.0.0.1
  const char* folder;         // where this user may write; stands for the folder of the code cache
  int parent;                 // process
  const void* parent_memory;  // an address that is mapped there
};

// Descriptor of a file that a careless parent has left open.
inline constexpr int kLeakedFile = 90;

struct Attack {
  std::string_view name;
  bool (*attempt)(const Targets& targets);  // true: it worked. The kernel may also end the process
};

std::span<const Attack> attacks();

// Small limits of the process, so that exhausting them takes no time.
inline constexpr unsigned long kDataBytes = 256u << 20, kFileBytes = 64u << 20;
inline constexpr unsigned kThreads = 32, kDescriptors = 128, kCpuSeconds = 1;

}  // namespace gw::test
