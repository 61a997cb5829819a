#ifndef GODWIT_GODWIT_HPP
#define GODWIT_GODWIT_HPP
// The same as godwit.h, for C++20.

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include <sched.h>

#include <godwit/godwit.h>

namespace godwit {

using thread_id = std::uint64_t;

template <class T>
concept plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

// What fork() says: nothing if there can be no more threads.
struct forked {
  thread_id child = 0;  // 0 in the child itself
  bool in_child() const { return child == 0; }
  bool in_parent() const { return child != 0; }
};

inline std::optional<forked> fork() {
  forked result;
  if (godwit_fork(&result.child) != 0) return std::nullopt;
  return result;
}

// A partial result. False: it was not taken.
inline bool report(std::span<const std::byte> bytes) { return godwit_report(bytes.data(), bytes.size()) == 0; }
inline bool report(std::string_view text) { return godwit_report(text.data(), text.size()) == 0; }
template <plain T>
bool report(const T& value) {
  return godwit_report(&value, sizeof value) == 0;
}

namespace this_thread {

inline thread_id id() {
  thread_id id = 0;
  if (godwit_thread_id(&id) != 0) std::abort();
  return id;
}

inline void checkpoint() { godwit_checkpoint(); }

// Others on the same core may run. The program may be suspended here.
inline void yield() { sched_yield(); }

}  // namespace this_thread
}  // namespace godwit

#endif
