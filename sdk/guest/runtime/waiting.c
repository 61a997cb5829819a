// How a program waits, with and without other threads: deadlines, sleep, yield.

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

#include "guest_thread.h"

#define WEAK __attribute__((weak))

static const godwit_time kSecond = 1000000000;

godwit_time godwit_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

static void sleep_alone(__wasi_clockid_t clock, godwit_time time, __wasi_subclockflags_t flags) {
  const __wasi_subscription_t subscription = {
      .u = {.tag = __WASI_EVENTTYPE_CLOCK, .u.clock = {.id = clock, .timeout = (__wasi_timestamp_t)time, .flags = flags}}};
  __wasi_event_t event;
  __wasi_size_t events;
  const __wasi_errno_t ignored = __wasi_poll_oneoff(&subscription, &event, 1, &events);
  (void)ignored;
}

void godwit_sleep_until(godwit_time deadline) {
  sleep_alone(__WASI_CLOCKID_MONOTONIC, deadline, __WASI_SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME);
}

static int is_time(const struct timespec* time) { return time->tv_nsec >= 0 && time->tv_nsec < kSecond; }

// A time so far away that it would overflow is no deadline: in 292 years.
static godwit_time after(godwit_time now, const struct timespec* interval) {
  godwit_time whole, sum;
  if (interval->tv_sec < 0) return now;
  if (__builtin_mul_overflow((godwit_time)interval->tv_sec, kSecond, &whole) || __builtin_add_overflow(whole, interval->tv_nsec, &sum) ||
      __builtin_add_overflow(sum, now, &sum))
    return INT64_MAX;
  return sum;
}

godwit_time godwit_deadline(clockid_t clock, const struct timespec* time) {
  if (!is_time(time)) return -1;
  if (clock == CLOCK_MONOTONIC) return after(0, time);
  struct timespec now;
  if (clock_gettime(clock, &now) != 0) return -1;
  struct timespec left = {.tv_sec = time->tv_sec - now.tv_sec, .tv_nsec = time->tv_nsec - now.tv_nsec};
  if (left.tv_nsec < 0) {
    left.tv_nsec += kSecond;
    --left.tv_sec;
  }
  return after(godwit_now(), &left);
}

_Noreturn void godwit_end_in_deadlock(void) {
  static const char kText[] = "godwit: deadlock: the only thread of the program waits, and no other can wake it\n";
  const ssize_t ignored = write(STDERR_FILENO, kText, sizeof kText - 1);
  (void)ignored;
  _Exit(kGodwitAbortExitCode);
}

int godwit_wait(const void* key, godwit_time deadline, const char* reason) {
  if (godwit_thread_wait) return godwit_thread_wait(key, deadline, reason);
  if (deadline == GODWIT_NEVER) godwit_end_in_deadlock();
  godwit_sleep_until(deadline);
  return 1;
}

// --- in place of wasi-libc's, in which all threads would sleep

static void sleep_among_threads(clockid_t clock, int flags, const struct timespec* time) {
  static const char key;  // nobody wakes a thread that sleeps
  const godwit_time deadline = flags & TIMER_ABSTIME ? godwit_deadline(clock, time) : after(godwit_now(), time);
  godwit_thread_wait(&key, deadline, "the end of a sleep");
}

WEAK int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time, struct timespec* left) {
  if (flags & ~TIMER_ABSTIME || !is_time(time) || time->tv_sec < 0) return EINVAL;
  if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) return ENOTSUP;
  if (godwit_thread_wait) {
    sleep_among_threads(clock, flags, time);
  } else {
    sleep_alone(clock == CLOCK_MONOTONIC ? __WASI_CLOCKID_MONOTONIC : __WASI_CLOCKID_REALTIME, after(0, time),
                flags & TIMER_ABSTIME ? __WASI_SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME : 0);
  }
  if (left) *left = (struct timespec){0};
  return 0;
}

WEAK int nanosleep(const struct timespec* time, struct timespec* left) {
  const int error = clock_nanosleep(CLOCK_REALTIME, 0, time, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

WEAK int usleep(useconds_t microseconds) {
  const struct timespec time = {.tv_sec = microseconds / 1000000, .tv_nsec = (long)(microseconds % 1000000) * 1000};
  return nanosleep(&time, NULL);
}

WEAK unsigned sleep(unsigned seconds) {
  const struct timespec time = {.tv_sec = seconds};
  nanosleep(&time, NULL);
  return 0;
}

WEAK int sched_yield(void) {
  if (godwit_thread_yield && godwit_thread_yield()) return 0;
  const __wasi_errno_t error = __wasi_sched_yield();
  if (error == 0) return 0;
  errno = error;
  return -1;
}

WEAK int pthread_yield(void) { return sched_yield(); }
WEAK int sched_get_priority_max(int policy) {
  (void)policy;
  return 0;
}
WEAK int sched_get_priority_min(int policy) {
  (void)policy;
  return 0;
}

WEAK int thrd_sleep(const struct timespec* time, struct timespec* left) { return clock_nanosleep(CLOCK_REALTIME, 0, time, left) ? -2 : 0; }
WEAK void thrd_yield(void) { sched_yield(); }
