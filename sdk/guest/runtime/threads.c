// The scheduler of guest threads (docs/design/012-guest-threads.md). Threads take turns on the one thread that a wasm program has: one runs
// until it waits, yields or ends. The order is that of the list of ready threads, first come, first served, so a run is repeated exactly.
//
// Each thread has its own stack in memory. Its frames in the engine leave through the unwind stack when it stops, as in a suspension by the
// host, and are kept in `frames` until its next turn.
//
// godwit_threads_run() is the scheduler: an ordinary loop below the frames of all threads. It can be suspended and moved itself.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "guest_thread.h"

#define WEAK __attribute__((weak))
#define IMPORT(name) __attribute__((import_module("godwit"), import_name(name)))

// Replaced by the pre-processor: docs/guest-abi.md.
IMPORT("thread_run") size_t godwit_thread_run(void (*function)(void*), void* argument, const void* frames, size_t frames_bytes);
IMPORT("thread_switch") void godwit_thread_switch(void);
IMPORT("thread_frames") void godwit_thread_frames(void* to);

enum {
  kStackBytes = 1 << 18,
  kMostStackBytes = 1 << 30,
  kSchedulerStackBytes = 1 << 14,  // of the stack of the program, whose rest is that of the first thread
  kGuardWords = 16,                // at the end of a stack: overwritten, the stack was too small
  kFirstFramesBytes = 1024,
  kLooksBeforeYield = 100,  // at atomic variables and mutexes
  kTurnsBetweenClocks = 16  // while threads wait for a time and others run
};
static const unsigned kGuard = 0x67647767;

struct list {
  struct godwit_thread* first;
  struct godwit_thread* last;
};

static struct list ready, waiting;
static unsigned waiting_for_a_time;  // how many threads
static struct godwit_thread* all_threads = &godwit_main_thread;
static unsigned alive = 1, threads_made = 1;
static unsigned looks, turns_since_clock;
static int running;  // the scheduler

static void append(struct list* list, struct godwit_thread* t) {
  t->next = NULL;
  t->previous = list->last;
  *(list->last ? &list->last->next : &list->first) = t;
  list->last = t;
}

static void take(struct list* list, struct godwit_thread* t) {
  *(t->previous ? &t->previous->next : &list->first) = t->next;
  *(t->next ? &t->next->previous : &list->last) = t->previous;
}

static _Noreturn void end_with(const char* text) {
  const ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
  (void)ignored;
  _Exit(kGodwitAbortExitCode);
}

// --- stacks

static void* stack_pointer(void) {
  void* pointer;
  __asm__ volatile("global.get __stack_pointer\n\tlocal.set %0" : "=r"(pointer)::"memory");
  return pointer;
}

static void set_stack_pointer(void* pointer) { __asm__ volatile("local.get %0\n\tglobal.set __stack_pointer" ::"r"(pointer) : "memory"); }

// A store below the end of a stack has hit something else: only the end of the program is left.
static void check_stack(const struct godwit_thread* t, const void* pointer) {
  if (!t->stack) return;
  const unsigned* const guard = (const unsigned*)t->stack;
  int whole = pointer >= (const void*)(guard + kGuardWords);
  for (int i = 0; i < kGuardWords; ++i) whole &= guard[i] == kGuard;
  if (whole) return;
  char text[160];
  snprintf(text, sizeof text, "godwit: stack overflow in thread %u: its stack has %zu bytes (pthread_attr_setstacksize)\n", t->number,
           t->stack_bytes);
  end_with(text);
}

// --- turns

// Only code of the C++ runtime has the state of exceptions.
WEAK extern void* godwit_exceptions[3];
WEAK void* godwit_call_thread(void* (*start)(void*), void* argument) { return start(argument); }

static void (*first_body)(void);
extern void godwit_run_program(void);

static void end_thread(struct godwit_thread* self) {
  check_stack(self, stack_pointer());
  while (self->cleanups) __godwit_cleanup_pop(1);
  godwit_end_thread_data();
  self->ended = 1;
  --alive;
  godwit_thread_wake(self, UINT32_MAX);
}

static void first_function(void* thread) {
  struct godwit_thread* const self = thread;
  if (self != &godwit_main_thread) {
    self->result = godwit_call_thread(self->start, self->argument);
    end_thread(self);
  } else if (first_body) {
    first_body();
  } else {
    godwit_run_program();
  }
}

static void forget(struct godwit_thread* t) {
  for (struct godwit_thread** link = &all_threads; *link; link = &(*link)->next_of_all) {
    if (*link != t) continue;
    *link = t->next_of_all;
    break;
  }
  free(t->frames);
  free(t->stack);  // and the thread with it
}

static void keep_frames(struct godwit_thread* t, size_t bytes) {
  if (bytes > t->frames_capacity) {
    free(t->frames);
    t->frames_capacity = bytes > kFirstFramesBytes / 2 ? 2 * bytes : kFirstFramesBytes;
    t->frames = malloc(t->frames_capacity);
    if (!t->frames) end_with("godwit: out of memory: the frames of a thread cannot be kept\n");
  }
  godwit_thread_frames(t->frames);
  t->frames_bytes = bytes;
}

// Runs a thread until it stops. True if it has returned from its first function.
static int take_turn(struct godwit_thread* t) {
  godwit_current_thread = t;
  looks = 0;
  errno = t->saved_errno;
  if (godwit_exceptions) memcpy(godwit_exceptions, t->exceptions, sizeof t->exceptions);
  void* const own = stack_pointer();
  set_stack_pointer(t->stack_pointer ? t->stack_pointer : (char*)own - kSchedulerStackBytes);
  const size_t frames = godwit_thread_run(first_function, t, t->frames, t->frames_bytes);
  t->stack_pointer = stack_pointer();
  set_stack_pointer(own);
  t->saved_errno = errno;
  if (godwit_exceptions) memcpy(t->exceptions, godwit_exceptions, sizeof t->exceptions);
  t->frames_bytes = 0;
  if (frames == 0) return 1;
  if (t->ended) {
    godwit_thread_frames(NULL);  // pthread_exit
  } else {
    keep_frames(t, frames);
  }
  return 0;
}

static void make_ready(struct godwit_thread* t, int timed_out) {
  take(&waiting, t);
  if (t->deadline != GODWIT_NEVER) --waiting_for_a_time;
  t->timed_out = timed_out;
  append(&ready, t);
}

// In the order of their deadlines.
static void wake_those_whose_time_has_come(void) {
  const godwit_time now = godwit_now();
  turns_since_clock = 0;
  for (;;) {
    struct godwit_thread* next = NULL;
    for (struct godwit_thread* t = waiting.first; t; t = t->next)
      if (t->deadline != GODWIT_NEVER && t->deadline <= now && (!next || t->deadline < next->deadline)) next = t;
    if (!next) return;
    make_ready(next, 1);
  }
}

static _Noreturn void report_deadlock(void) {
  char text[1024];
  int size = snprintf(text, sizeof text, "godwit: deadlock: %u %s, and no other thread can end that:", alive,
                      alive == 1 ? "thread waits" : "threads wait");
  for (const struct godwit_thread* t = waiting.first; t && size < (int)sizeof text - 80; t = t->next)
    size += snprintf(text + size, sizeof text - (size_t)size, "%s thread %u for %s", t == waiting.first ? "" : ",", t->number, t->reason);
  snprintf(text + size, sizeof text - (size_t)size, "\n");
  end_with(text);
}

// The first thread has ended by pthread_exit, and now the last one has. What exit() calls may wait, so it needs a thread.
static void end_program(void) { exit(0); }
static void revive_first_thread(void) {
  first_body = end_program;
  godwit_main_thread.ended = 0;
  alive = 1;
  append(&ready, &godwit_main_thread);
}

static struct godwit_thread* next_thread(void) {
  for (;;) {
    if (waiting_for_a_time > 0 && (!ready.first || ++turns_since_clock >= kTurnsBetweenClocks)) wake_those_whose_time_has_come();
    if (ready.first) {
      struct godwit_thread* const t = ready.first;
      take(&ready, t);
      return t;
    }
    if (alive == 0) revive_first_thread();
    if (ready.first) continue;
    if (waiting_for_a_time == 0) report_deadlock();
    godwit_time earliest = INT64_MAX;
    for (const struct godwit_thread* t = waiting.first; t; t = t->next)
      if (t->deadline != GODWIT_NEVER && t->deadline < earliest) earliest = t->deadline;
    godwit_sleep_until(earliest);
  }
}

// In place of that of godwit_runtime.c.
__attribute__((export_name("_start"))) void _start(void) { godwit_threads_run(NULL); }

void godwit_threads_run(void (*body)(void)) {
  first_body = body;
  running = 1;
  godwit_main_thread.stack_pointer = NULL;  // goes on from here
  append(&ready, &godwit_main_thread);
  for (;;) {
    struct godwit_thread* const t = next_thread();
    const int returned = take_turn(t);
    if (returned && t == &godwit_main_thread) break;
    if (t->ended && t->detached) forget(t);
  }
  running = 0;
}

static void stop_here(void) {
  if (!running) end_with("godwit: a thread is waited for before the program runs\n");
  godwit_thread_switch();
}

int godwit_thread_wait(const void* key, godwit_time deadline, const char* reason) {
  struct godwit_thread* const self = godwit_current_thread;
  check_stack(self, stack_pointer());
  self->key = key;
  self->deadline = deadline;
  self->reason = reason;
  append(&waiting, self);
  if (deadline != GODWIT_NEVER) ++waiting_for_a_time;
  stop_here();
  return self->timed_out;
}

void godwit_thread_wake(const void* key, unsigned count) {
  for (struct godwit_thread *t = waiting.first, *next; t && count > 0; t = next) {
    next = t->next;
    if (t->key != key) continue;
    make_ready(t, 0);
    --count;
  }
}

// For once.cc.
void godwit_once_wait(const void* key, const char* reason) { godwit_thread_wait(key, GODWIT_NEVER, reason); }
void godwit_once_done(const void* key) { godwit_thread_wake(key, UINT32_MAX); }

int godwit_thread_yield(void) {
  check_stack(godwit_current_thread, stack_pointer());
  if (!ready.first && waiting_for_a_time == 0) return 0;
  append(&ready, godwit_current_thread);
  stop_here();
  return 1;
}

void godwit_thread_spin(void) {
  if (++looks < kLooksBeforeYield || !running) return;
  looks = 0;
  godwit_thread_yield();
}

// --- threads as POSIX has them

struct attributes {
  size_t stack_bytes;  // 0: as usual
  int detached;
};
_Static_assert(sizeof(struct attributes) <= sizeof(pthread_attr_t), "pthread_attr_t is too small");

static struct attributes* attributes_of(const pthread_attr_t* attr) { return (struct attributes*)attr; }

WEAK int pthread_create(pthread_t* out, const pthread_attr_t* attr, void* (*start)(void*), void* argument) {
  unsigned count = 0;
  for (const struct godwit_thread* t = all_threads; t; t = t->next_of_all) ++count;
  if (count >= PTHREAD_THREADS_MAX) return EAGAIN;
  const size_t bytes = (attr && attributes_of(attr)->stack_bytes ? attributes_of(attr)->stack_bytes : kStackBytes) & ~(size_t)15;
  char* const stack = malloc(bytes + sizeof(struct godwit_thread));
  if (!stack) return EAGAIN;
  for (int i = 0; i < kGuardWords; ++i) ((unsigned*)stack)[i] = kGuard;
  // Above the stack, where an overflow does not reach it.
  struct godwit_thread* const t = (struct godwit_thread*)(stack + bytes);
  memset(t, 0, sizeof *t);
  t->stack = stack;
  t->stack_bytes = bytes;
  t->stack_pointer = t;
  t->number = ++threads_made;
  t->start = start;
  t->argument = argument;
  t->detached = attr && attributes_of(attr)->detached;
  t->next_of_all = all_threads->next_of_all;  // the first thread stays the first
  all_threads->next_of_all = t;
  ++alive;
  append(&ready, t);
  *out = (pthread_t)t;
  return 0;
}

static struct godwit_thread* find(pthread_t handle) {
  struct godwit_thread* t = all_threads;
  while (t && t != (struct godwit_thread*)handle) t = t->next_of_all;
  return t;
}

WEAK int pthread_join(pthread_t handle, void** result) {
  struct godwit_thread* const t = find(handle);
  if (!t) return ESRCH;
  if (t == godwit_current_thread) return EDEADLK;
  if (t->detached) return EINVAL;
  while (!t->ended) godwit_thread_wait(t, GODWIT_NEVER, "the end of another thread");
  if (result) *result = t->result;
  if (t != &godwit_main_thread) forget(t);
  return 0;
}

WEAK int pthread_detach(pthread_t handle) {
  struct godwit_thread* const t = find(handle);
  if (!t) return ESRCH;
  if (t->detached) return EINVAL;
  t->detached = 1;
  if (t->ended && t != &godwit_main_thread) forget(t);
  return 0;
}

WEAK _Noreturn void pthread_exit(void* result) {
  struct godwit_thread* const self = godwit_current_thread;
  self->result = result;
  end_thread(self);
  if (self == &godwit_main_thread) self->detached = 0;  // its memory is not from malloc
  stop_here();
  __builtin_unreachable();
}

WEAK int pthread_setname_np(pthread_t handle, const char* name) {
  struct godwit_thread* const t = find(handle);
  if (!t) return ESRCH;
  if (strlen(name) >= sizeof t->name) return ERANGE;
  strcpy(t->name, name);
  return 0;
}
WEAK int pthread_getname_np(pthread_t handle, char* name, size_t size) {
  const struct godwit_thread* const t = find(handle);
  if (!t) return ESRCH;
  if (strlen(t->name) >= size) return ERANGE;
  strcpy(name, t->name);
  return 0;
}

WEAK int pthread_kill(pthread_t handle, int signal) {
  if (!find(handle)) return ESRCH;
  if (signal == 0) return 0;
  if ((struct godwit_thread*)handle != godwit_current_thread) return ENOSYS;
  return raise(signal) == 0 ? 0 : errno;
}
WEAK int pthread_cancel(pthread_t handle) {
  (void)handle;
  return ENOSYS;
}
WEAK int pthread_setcancelstate(int state, int* before) {
  static int current = PTHREAD_CANCEL_ENABLE;
  if (before) *before = current;
  current = state;
  return 0;
}
WEAK int pthread_setcanceltype(int type, int* before) {
  static int current = PTHREAD_CANCEL_DEFERRED;
  if (before) *before = current;
  current = type;
  return 0;
}
WEAK void pthread_testcancel(void) {}
WEAK int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  (void)prepare, (void)parent, (void)child;
  return 0;
}
WEAK int pthread_getconcurrency(void) { return 0; }
WEAK int pthread_setconcurrency(int level) { return level < 0 ? EINVAL : 0; }
WEAK int pthread_getcpuclockid(pthread_t handle, clockid_t* clock) {
  if (!find(handle)) return ESRCH;
  *clock = CLOCK_PROCESS_CPUTIME_ID;
  return 0;
}

WEAK int pthread_attr_init(pthread_attr_t* attr) {
  memset(attr, 0, sizeof *attr);
  return 0;
}
WEAK int pthread_attr_destroy(pthread_attr_t* attr) {
  (void)attr;
  return 0;
}
WEAK int pthread_attr_setdetachstate(pthread_attr_t* attr, int state) {
  if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED) return EINVAL;
  attributes_of(attr)->detached = state == PTHREAD_CREATE_DETACHED;
  return 0;
}
WEAK int pthread_attr_getdetachstate(const pthread_attr_t* attr, int* state) {
  *state = attributes_of(attr)->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE;
  return 0;
}
WEAK int pthread_attr_setstacksize(pthread_attr_t* attr, size_t bytes) {
  if (bytes < PTHREAD_STACK_MIN || bytes > kMostStackBytes) return EINVAL;
  attributes_of(attr)->stack_bytes = bytes;
  return 0;
}
WEAK int pthread_attr_getstacksize(const pthread_attr_t* attr, size_t* bytes) {
  *bytes = attributes_of(attr)->stack_bytes ? attributes_of(attr)->stack_bytes : kStackBytes;
  return 0;
}
WEAK int pthread_attr_setguardsize(pthread_attr_t* attr, size_t bytes) {
  (void)attr, (void)bytes;
  return 0;
}
WEAK int pthread_attr_getguardsize(const pthread_attr_t* attr, size_t* bytes) {
  (void)attr;
  *bytes = kGuardWords * sizeof(unsigned);
  return 0;
}
WEAK int pthread_attr_setschedpolicy(pthread_attr_t* attr, int policy) {
  (void)attr;
  return policy == SCHED_OTHER ? 0 : ENOTSUP;
}
WEAK int pthread_attr_getschedpolicy(const pthread_attr_t* attr, int* policy) {
  (void)attr;
  *policy = SCHED_OTHER;
  return 0;
}
WEAK int pthread_attr_setschedparam(pthread_attr_t* attr, const struct sched_param* param) {
  (void)attr;
  return param->sched_priority == 0 ? 0 : ENOTSUP;
}
WEAK int pthread_attr_getschedparam(const pthread_attr_t* attr, struct sched_param* param) {
  (void)attr;
  param->sched_priority = 0;
  return 0;
}
WEAK int pthread_attr_setinheritsched(pthread_attr_t* attr, int inherit) {
  (void)attr;
  return inherit == PTHREAD_INHERIT_SCHED || inherit == PTHREAD_EXPLICIT_SCHED ? 0 : EINVAL;
}
WEAK int pthread_attr_getinheritsched(const pthread_attr_t* attr, int* inherit) {
  (void)attr;
  *inherit = PTHREAD_INHERIT_SCHED;
  return 0;
}
WEAK int pthread_attr_setscope(pthread_attr_t* attr, int scope) {
  (void)attr;
  return scope == PTHREAD_SCOPE_PROCESS ? 0 : ENOTSUP;
}
WEAK int pthread_attr_getscope(const pthread_attr_t* attr, int* scope) {
  (void)attr;
  *scope = PTHREAD_SCOPE_PROCESS;
  return 0;
}
WEAK int pthread_setschedparam(pthread_t handle, int policy, const struct sched_param* param) {
  if (!find(handle)) return ESRCH;
  return policy == SCHED_OTHER && param->sched_priority == 0 ? 0 : EPERM;
}
WEAK int pthread_getschedparam(pthread_t handle, int* policy, struct sched_param* param) {
  if (!find(handle)) return ESRCH;
  *policy = SCHED_OTHER;
  param->sched_priority = 0;
  return 0;
}
WEAK int pthread_setschedprio(pthread_t handle, int priority) {
  if (!find(handle)) return ESRCH;
  return priority == 0 ? 0 : EPERM;
}

// --- threads as C has them

struct c_start {
  thrd_start_t function;
  void* argument;
};

static void* call_c_start(void* start) {
  const struct c_start own = *(struct c_start*)start;
  free(start);
  return (void*)(intptr_t)own.function(own.argument);
}

WEAK int thrd_create(thrd_t* out, thrd_start_t function, void* argument) {
  struct c_start* const start = malloc(sizeof *start);
  if (!start) return thrd_nomem;
  *start = (struct c_start){function, argument};
  if (pthread_create((pthread_t*)out, NULL, call_c_start, start) == 0) return thrd_success;
  free(start);
  return thrd_nomem;
}
WEAK int thrd_join(thrd_t handle, int* result) {
  void* value;
  if (pthread_join((pthread_t)handle, &value) != 0) return thrd_error;
  if (result) *result = (int)(intptr_t)value;
  return thrd_success;
}
WEAK int thrd_detach(thrd_t handle) { return pthread_detach((pthread_t)handle) == 0 ? thrd_success : thrd_error; }
WEAK _Noreturn void thrd_exit(int result) { pthread_exit((void*)(intptr_t)result); }
