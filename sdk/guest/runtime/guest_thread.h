#ifndef GODWIT_GUEST_THREAD_H
#define GODWIT_GUEST_THREAD_H
// The declarations that the parts of the thread library share (docs/design/012-guest-threads.md).
//
// threads.c, the scheduler, is linked only into programs that create threads. The other parts work without it, with one thread: they refer
// to it weakly.

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kGodwitAbortExitCode = 134 };  // 128 + SIGABRT

typedef int64_t godwit_time;  // nanoseconds of the monotonic clock
#define GODWIT_NEVER ((godwit_time) - 1)

struct godwit_thread_value {
  unsigned key_use;  // of which use of the key the value is
  void* value;
};

struct godwit_thread {
  unsigned number;  // 1 is the thread of main()
  char name[16];

  // The links of the list of ready threads, or of waiting ones.
  struct godwit_thread* next;
  struct godwit_thread* previous;
  struct godwit_thread* next_of_all;

  // While it waits.
  const void* key;       // whoever wakes this wakes the thread
  godwit_time deadline;  // or GODWIT_NEVER
  const char* reason;    // "a mutex"
  int timed_out;

  // While it does not run.
  void* stack_pointer;
  void* frames;  // what it had on the unwind stack
  size_t frames_bytes, frames_capacity;
  int saved_errno;
  void* exceptions[3];  // exceptions.cc

  char* stack;  // null: that of the program. The thread itself lies above it
  size_t stack_bytes;
  void* (*start)(void*);
  void* argument;
  void* result;
  int ended, detached;

  // thread_data.c
  struct godwit_thread_value* values;
  struct godwit_thread_exit* at_exit;
  struct __godwit_cleanup* cleanups;
  void** variables;  // thread_local ones
  size_t variable_count;
};

extern struct godwit_thread godwit_main_thread;
extern struct godwit_thread* godwit_current_thread;

// Calls the destructors of what the current thread has: thread_local objects, then values of keys.
void godwit_end_thread_data(void);

// --- threads.c

// Lets other threads run until somebody wakes the key or the deadline has passed. True if it has.
__attribute__((weak)) int godwit_thread_wait(const void* key, godwit_time deadline, const char* reason);
// Makes up to `count` threads that wait for the key ready, in the order in which they came.
__attribute__((weak)) void godwit_thread_wake(const void* key, unsigned count);
// Lets all others that are ready run. False: there is none.
__attribute__((weak)) int godwit_thread_yield(void);
// Runs threads until the first one, which calls `body`, or the program if that is null, has returned.
__attribute__((weak)) void godwit_threads_run(void (*body)(void));

static inline void godwit_wake(const void* key, unsigned count) {
  if (godwit_thread_wake) godwit_thread_wake(key, count);
}

// --- waiting.c

int godwit_wait(const void* key, godwit_time deadline, const char* reason);
godwit_time godwit_now(void);
void godwit_sleep_until(godwit_time deadline);  // the whole program
// The deadline of another clock as one of the monotonic clock. Negative: the time is not valid.
godwit_time godwit_deadline(clockid_t clock, const struct timespec* time);
__attribute__((noreturn)) void godwit_end_in_deadlock(void);

static inline void godwit_wait_forever(const void* key, const char* reason) {
  if (!godwit_thread_wait) godwit_end_in_deadlock();
  godwit_thread_wait(key, GODWIT_NEVER, reason);
}

#ifdef __cplusplus
}
#endif

#endif
