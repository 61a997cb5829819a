#ifndef GODWIT_TASK_HPP
#define GODWIT_TASK_HPP
// Tasks (task.h) in C++20: any function of one plain value that returns another.

#include <godwit/task.h>
#include <godwit/threads.hpp>

namespace godwit {
namespace detail {

template <auto kFunction>
struct task_entry;

template <plain Result, plain Argument, Result (*kFunction)(Argument)>
struct task_entry<kFunction> {
  static void run(const void* bytes, std::size_t size) {
    if (size != sizeof(Argument)) std::abort();
    Argument argument;
    std::memcpy(&argument, bytes, size);
    const Result result = kFunction(argument);
    if (godwit_task_result(&result, sizeof result) != 0) std::abort();
  }
};

}  // namespace detail

// By which a host calls `kFunction` with the bytes of its argument, and gets those of its result.
template <auto kFunction>
std::uint32_t task_number() {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&detail::task_entry<kFunction>::run));
}

}  // namespace godwit

#endif
