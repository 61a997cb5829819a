#ifndef GODWIT_THREADS_HPP
#define GODWIT_THREADS_HPP
// Forks, and questions of a program about its thread: godwit.h for C++20.

#include <cerrno>
#include <concepts>
#include <cstdint>
#include <cstdio>
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

namespace detail {

inline thread_id id_of_thread() {
  thread_id id = 0;
  if (godwit_thread_id(&id) != 0) std::abort();
  return id;
}

inline thread_id& parent_of_thread() {
  static thread_id parent = 0;
  return parent;
}

}  // namespace detail

// The answer of fork(); none if there can be no more threads.
struct forked {
  thread_id child = 0;  // 0 in the child itself
  bool in_child() const { return child == 0; }
  bool in_parent() const { return child != 0; }
};

// A child of this thread that goes on from here with a copy of everything, on this peer or another; docs/guest-abi.md.
inline std::optional<forked> fork() {
  std::fflush(nullptr);  // else both would print what waits
  forked result;
  const thread_id self = detail::id_of_thread();
  if (godwit_fork(&result.child) != 0) return std::nullopt;
  if (result.in_child()) detail::parent_of_thread() = self;
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

inline thread_id id() { return detail::id_of_thread(); }

// The thread that has forked this one; 0: none has.
inline thread_id parent() { return detail::parent_of_thread(); }

inline void checkpoint() { godwit_checkpoint(); }

// Others on the same core may run. The program may be suspended here.
inline void yield() { sched_yield(); }

}  // namespace this_thread
}  // namespace godwit

#endif
