// Static objects in functions and std::call_once, for several threads: a thread that comes while another one is at it waits. Debian's
// libc++ and libc++abi, built for one thread, take that for a mistake.

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

extern "C" {

// The functions of threads.c take precedence. Without threads only the function that is under way can have come here again.
[[gnu::weak]] void godwit_once_wait(const void*, const char*) {
  static const char kText[] = "godwit: the initialisation of a static object, or a function that is called once, needs itself\n";
  const ssize_t ignored = write(STDERR_FILENO, kText, sizeof kText - 1);
  (void)ignored;
  _Exit(134);  // 128 + SIGABRT
}
[[gnu::weak]] void godwit_once_done(const void*) {}

// The guard of a static object: its first byte says that the object is made, the second that a thread is making it.
struct Guard {
  uint8_t made;
  uint8_t in_progress;
};

int __cxa_guard_acquire(Guard* guard) {
  while (guard->in_progress) godwit_once_wait(guard, "a static object");
  if (guard->made) return 0;
  guard->in_progress = 1;
  return 1;
}

void __cxa_guard_release(Guard* guard) {
  guard->made = 1;
  guard->in_progress = 0;
  godwit_once_done(guard);
}

void __cxa_guard_abort(Guard* guard) {
  guard->in_progress = 0;
  godwit_once_done(guard);
}

// std::__call_once.
void godwit_call_once(volatile unsigned long& flag, void* argument, void (*function)(void*)) __asm__("_ZNSt3__211__call_onceERVmPvPFvS2_E");
void godwit_call_once(volatile unsigned long& flag, void* argument, void (*function)(void*)) {
  constexpr unsigned long kUnset = 0, kPending = 1, kComplete = ~0ul;
  const void* const key = const_cast<unsigned long*>(&flag);
  while (flag == kPending) godwit_once_wait(key, "a function that is called once");
  if (flag == kComplete) return;
  flag = kPending;
#if __cpp_exceptions
  try {
    function(argument);
  } catch (...) {
    flag = kUnset;
    godwit_once_done(key);
    throw;
  }
#else
  function(argument);
#endif
  flag = kComplete;
  godwit_once_done(key);
}

}  // extern "C"
