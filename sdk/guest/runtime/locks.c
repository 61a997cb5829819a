// Mutexes, condition variables, read-write locks, barriers, semaphores, spin locks and once, as POSIX and C have them. Threads take turns
// (threads.c), so between two calls that may wait nothing else happens: a lock is a plain variable, and a list of threads that wait for it.

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "__godwit_spin.h"
#include "guest_thread.h"

#define WEAK __attribute__((weak))
// So that what waits without a limit has no code for the other case: in a program without threads it cannot be suspended.
#define INLINE static inline __attribute__((always_inline))
enum { kAll = UINT_MAX };

// POSIX: a time that is not valid matters only to a thread that would have to wait.
INLINE int wait_until(const void* key, clockid_t clock, const struct timespec* time, const char* reason) {
  if (!time) {
    godwit_wait_forever(key, reason);
    return 0;
  }
  const godwit_time deadline = godwit_deadline(clock, time);
  if (deadline < 0) return EINVAL;
  return godwit_wait(key, deadline, reason) ? ETIMEDOUT : 0;
}

// --- mutexes

struct mutex {
  int type;  // first: the initialisers set it
  struct godwit_thread* owner;
  unsigned depth;
};
_Static_assert(sizeof(struct mutex) <= sizeof(pthread_mutex_t) && sizeof(struct mutex) <= sizeof(mtx_t), "pthread_mutex_t is too small");

// EBUSY: another thread has it, or, if the mutex is a normal one, this thread.
static int try_lock(struct mutex* m) {
  struct godwit_thread* const self = godwit_current_thread;
  if (!m->owner) {
    m->owner = self;
    m->depth = 1;
    return 0;
  }
  if (m->owner != self || m->type != PTHREAD_MUTEX_RECURSIVE) return EBUSY;
  if (m->depth == UINT_MAX) return EAGAIN;
  ++m->depth;
  return 0;
}

INLINE int lock(struct mutex* m, const struct timespec* until) {
  __godwit_spin();
  for (;;) {
    const int tried = try_lock(m);
    if (tried != EBUSY) return tried;
    if (m->owner == godwit_current_thread && m->type == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
    const int waited = wait_until(m, CLOCK_REALTIME, until, m->owner == godwit_current_thread ? "a mutex that it holds itself" : "a mutex");
    if (waited != 0) return waited;
  }
}

static int unlock(struct mutex* m) {
  if (m->type != PTHREAD_MUTEX_NORMAL && m->owner != godwit_current_thread) return EPERM;
  if (m->type == PTHREAD_MUTEX_RECURSIVE && --m->depth > 0) return 0;
  m->owner = NULL;
  godwit_wake(m, 1);
  return 0;
}

static struct mutex* mutex_of(pthread_mutex_t* m) { return (struct mutex*)m; }

WEAK int pthread_mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* attr) {
  *mutex_of(m) = (struct mutex){.type = attr ? (int)attr->__attr : PTHREAD_MUTEX_DEFAULT};
  return 0;
}
WEAK int pthread_mutex_destroy(pthread_mutex_t* m) { return mutex_of(m)->owner ? EBUSY : 0; }
WEAK int pthread_mutex_lock(pthread_mutex_t* m) { return lock(mutex_of(m), NULL); }
WEAK int pthread_mutex_timedlock(pthread_mutex_t* m, const struct timespec* until) { return lock(mutex_of(m), until); }
WEAK int pthread_mutex_trylock(pthread_mutex_t* m) {
  __godwit_spin();
  return try_lock(mutex_of(m));
}
WEAK int pthread_mutex_unlock(pthread_mutex_t* m) { return unlock(mutex_of(m)); }
WEAK int pthread_mutex_consistent(pthread_mutex_t* m) {
  (void)m;
  return EINVAL;  // no mutex is robust
}

WEAK int pthread_mutexattr_init(pthread_mutexattr_t* attr) {
  attr->__attr = PTHREAD_MUTEX_DEFAULT;
  return 0;
}
WEAK int pthread_mutexattr_destroy(pthread_mutexattr_t* attr) {
  (void)attr;
  return 0;
}
WEAK int pthread_mutexattr_settype(pthread_mutexattr_t* attr, int type) {
  if (type < PTHREAD_MUTEX_NORMAL || type > PTHREAD_MUTEX_ERRORCHECK) return EINVAL;
  attr->__attr = (unsigned)type;
  return 0;
}
WEAK int pthread_mutexattr_gettype(const pthread_mutexattr_t* attr, int* type) {
  *type = (int)attr->__attr;
  return 0;
}

// There is one process: what is shared between processes is shared already.
static int check_shared(int shared) { return shared == PTHREAD_PROCESS_PRIVATE || shared == PTHREAD_PROCESS_SHARED ? 0 : EINVAL; }
static int say_private(int* shared) {
  *shared = PTHREAD_PROCESS_PRIVATE;
  return 0;
}
WEAK int pthread_mutexattr_setpshared(pthread_mutexattr_t* attr, int shared) {
  (void)attr;
  return check_shared(shared);
}
WEAK int pthread_mutexattr_getpshared(const pthread_mutexattr_t* attr, int* shared) {
  (void)attr;
  return say_private(shared);
}
WEAK int pthread_mutexattr_setprotocol(pthread_mutexattr_t* attr, int protocol) {
  (void)attr;
  return protocol == PTHREAD_PRIO_NONE ? 0 : ENOTSUP;
}
WEAK int pthread_mutexattr_getprotocol(const pthread_mutexattr_t* attr, int* protocol) {
  (void)attr;
  *protocol = PTHREAD_PRIO_NONE;
  return 0;
}
WEAK int pthread_mutexattr_setrobust(pthread_mutexattr_t* attr, int robust) {
  (void)attr;
  return robust == PTHREAD_MUTEX_STALLED ? 0 : ENOTSUP;
}
WEAK int pthread_mutexattr_getrobust(const pthread_mutexattr_t* attr, int* robust) {
  (void)attr;
  *robust = PTHREAD_MUTEX_STALLED;
  return 0;
}

// --- condition variables: nothing but the threads that wait, and the clock of their deadlines

struct cond {
  clockid_t clock;  // null: CLOCK_REALTIME
};
_Static_assert(sizeof(struct cond) <= sizeof(pthread_cond_t) && sizeof(struct cond) <= sizeof(cnd_t), "pthread_cond_t is too small");
_Static_assert(sizeof(clockid_t) <= sizeof(pthread_condattr_t), "pthread_condattr_t is too small");

INLINE int wait_for_signal(void* c, struct mutex* m, clockid_t clock, const struct timespec* until) {
  if (until && (until->tv_nsec < 0 || until->tv_nsec >= 1000000000)) return EINVAL;
  const int unlocked = unlock(m);
  if (unlocked != 0) return unlocked;
  const int waited = wait_until(c, clock, until, "a condition variable");
  const int locked = lock(m, NULL);
  return locked != 0 ? locked : waited;
}

static clockid_t clock_of(const pthread_cond_t* c) {
  const clockid_t clock = ((const struct cond*)c)->clock;
  return clock ? clock : CLOCK_REALTIME;
}

WEAK int pthread_cond_init(pthread_cond_t* c, const pthread_condattr_t* attr) {
  memset(c, 0, sizeof *c);
  if (attr) ((struct cond*)c)->clock = (clockid_t)(uintptr_t)attr->__attr;
  return 0;
}
WEAK int pthread_cond_destroy(pthread_cond_t* c) {
  (void)c;
  return 0;
}
WEAK int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) { return wait_for_signal(c, mutex_of(m), CLOCK_REALTIME, NULL); }
WEAK int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const struct timespec* until) {
  return wait_for_signal(c, mutex_of(m), clock_of(c), until);
}
WEAK int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const struct timespec* until) {
  return wait_for_signal(c, mutex_of(m), clock, until);
}
WEAK int pthread_cond_signal(pthread_cond_t* c) {
  godwit_wake(c, 1);
  return 0;
}
WEAK int pthread_cond_broadcast(pthread_cond_t* c) {
  godwit_wake(c, kAll);
  return 0;
}
WEAK int pthread_condattr_init(pthread_condattr_t* attr) {
  attr->__attr = 0;
  return 0;
}
WEAK int pthread_condattr_destroy(pthread_condattr_t* attr) {
  (void)attr;
  return 0;
}
WEAK int pthread_condattr_setclock(pthread_condattr_t* attr, clockid_t clock) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
  attr->__attr = (unsigned)(uintptr_t)clock;
  return 0;
}
WEAK int pthread_condattr_getclock(const pthread_condattr_t* attr, clockid_t* clock) {
  *clock = attr->__attr ? (clockid_t)(uintptr_t)attr->__attr : CLOCK_REALTIME;
  return 0;
}
WEAK int pthread_condattr_setpshared(pthread_condattr_t* attr, int shared) {
  (void)attr;
  return check_shared(shared);
}
WEAK int pthread_condattr_getpshared(const pthread_condattr_t* attr, int* shared) {
  (void)attr;
  return say_private(shared);
}

// --- read-write locks. A writer that waits goes before readers that come after it.

struct rwlock {
  unsigned readers;
  struct godwit_thread* writer;
  unsigned waiting_writers;
};
_Static_assert(sizeof(struct rwlock) <= sizeof(pthread_rwlock_t), "pthread_rwlock_t is too small");

static struct rwlock* rwlock_of(pthread_rwlock_t* l) { return (struct rwlock*)l; }
static int can_read(const struct rwlock* l) { return !l->writer && l->waiting_writers == 0; }
static int can_write(const struct rwlock* l) { return !l->writer && l->readers == 0; }

INLINE int lock_to_read(struct rwlock* l, const struct timespec* until) {
  __godwit_spin();
  if (l->writer == godwit_current_thread) return EDEADLK;
  while (!can_read(l)) {
    const int waited = wait_until(l, CLOCK_REALTIME, until, "a read-write lock");
    if (waited != 0) return waited;
  }
  ++l->readers;
  return 0;
}

INLINE int lock_to_write(struct rwlock* l, const struct timespec* until) {
  __godwit_spin();
  if (l->writer == godwit_current_thread) return EDEADLK;
  int waited = 0;
  ++l->waiting_writers;
  while (waited == 0 && !can_write(l)) waited = wait_until(l, CLOCK_REALTIME, until, "a read-write lock");
  --l->waiting_writers;
  if (waited == 0) {
    l->writer = godwit_current_thread;
  } else {
    godwit_wake(l, kAll);  // readers may have waited for this one
  }
  return waited;
}

WEAK int pthread_rwlock_init(pthread_rwlock_t* l, const pthread_rwlockattr_t* attr) {
  (void)attr;
  memset(l, 0, sizeof *l);
  return 0;
}
WEAK int pthread_rwlock_destroy(pthread_rwlock_t* l) { return rwlock_of(l)->writer || rwlock_of(l)->readers ? EBUSY : 0; }
WEAK int pthread_rwlock_rdlock(pthread_rwlock_t* l) { return lock_to_read(rwlock_of(l), NULL); }
WEAK int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const struct timespec* until) { return lock_to_read(rwlock_of(l), until); }
WEAK int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) {
  __godwit_spin();
  if (!can_read(rwlock_of(l))) return EBUSY;
  ++rwlock_of(l)->readers;
  return 0;
}
WEAK int pthread_rwlock_wrlock(pthread_rwlock_t* l) { return lock_to_write(rwlock_of(l), NULL); }
WEAK int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const struct timespec* until) { return lock_to_write(rwlock_of(l), until); }
WEAK int pthread_rwlock_trywrlock(pthread_rwlock_t* l) {
  __godwit_spin();
  if (!can_write(rwlock_of(l))) return EBUSY;
  rwlock_of(l)->writer = godwit_current_thread;
  return 0;
}
WEAK int pthread_rwlock_unlock(pthread_rwlock_t* l) {
  struct rwlock* const own = rwlock_of(l);
  if (own->writer) {
    if (own->writer != godwit_current_thread) return EPERM;
    own->writer = NULL;
  } else {
    if (own->readers == 0) return EPERM;
    --own->readers;
  }
  if (own->readers == 0) godwit_wake(l, kAll);
  return 0;
}
WEAK int pthread_rwlockattr_init(pthread_rwlockattr_t* attr) {
  memset(attr, 0, sizeof *attr);
  return 0;
}
WEAK int pthread_rwlockattr_destroy(pthread_rwlockattr_t* attr) {
  (void)attr;
  return 0;
}
WEAK int pthread_rwlockattr_setpshared(pthread_rwlockattr_t* attr, int shared) {
  (void)attr;
  return check_shared(shared);
}
WEAK int pthread_rwlockattr_getpshared(const pthread_rwlockattr_t* attr, int* shared) {
  (void)attr;
  return say_private(shared);
}

// --- barriers

struct barrier {
  unsigned expected, arrived, phase;
};
_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "pthread_barrier_t is too small");

WEAK int pthread_barrier_init(pthread_barrier_t* b, const pthread_barrierattr_t* attr, unsigned count) {
  (void)attr;
  if (count == 0) return EINVAL;
  *(struct barrier*)b = (struct barrier){.expected = count};
  return 0;
}
WEAK int pthread_barrier_destroy(pthread_barrier_t* b) { return ((struct barrier*)b)->arrived ? EBUSY : 0; }
WEAK int pthread_barrier_wait(pthread_barrier_t* pointer) {
  struct barrier* const b = (struct barrier*)pointer;
  if (++b->arrived == b->expected) {
    b->arrived = 0;
    ++b->phase;
    godwit_wake(b, kAll);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  for (const unsigned phase = b->phase; b->phase == phase;) godwit_wait_forever(b, "a barrier");
  return 0;
}
WEAK int pthread_barrierattr_init(pthread_barrierattr_t* attr) {
  attr->__attr = 0;
  return 0;
}
WEAK int pthread_barrierattr_destroy(pthread_barrierattr_t* attr) {
  (void)attr;
  return 0;
}
WEAK int pthread_barrierattr_setpshared(pthread_barrierattr_t* attr, int shared) {
  (void)attr;
  return check_shared(shared);
}
WEAK int pthread_barrierattr_getpshared(const pthread_barrierattr_t* attr, int* shared) {
  (void)attr;
  return say_private(shared);
}

// --- spin locks: wait, since the owner does not run meanwhile

WEAK int pthread_spin_init(pthread_spinlock_t* l, int shared) {
  *l = 0;
  return check_shared(shared);
}
WEAK int pthread_spin_destroy(pthread_spinlock_t* l) {
  (void)l;
  return 0;
}
WEAK int pthread_spin_trylock(pthread_spinlock_t* l) {
  __godwit_spin();
  if (*l) return EBUSY;
  *l = 1;
  return 0;
}
WEAK int pthread_spin_lock(pthread_spinlock_t* l) {
  while (pthread_spin_trylock(l) != 0) godwit_wait_forever((const void*)l, "a spin lock");
  return 0;
}
WEAK int pthread_spin_unlock(pthread_spinlock_t* l) {
  *l = 0;
  godwit_wake((const void*)l, 1);
  return 0;
}

// --- once

enum { kNotYet = 0, kNow = 1, kDone = 2 };

WEAK int pthread_once(pthread_once_t* once, void (*function)(void)) {
  while (*once == kNow) godwit_wait_forever(once, "a function that is called once");
  if (*once == kDone) return 0;
  *once = kNow;
  function();
  *once = kDone;
  godwit_wake(once, kAll);
  return 0;
}

// --- semaphores. sem_open names none: there is no other process.

struct semaphore {
  unsigned value;
};

static struct semaphore* semaphore_of(sem_t* s) { return (struct semaphore*)s; }
static int fail_with(int error) {
  errno = error;
  return -1;
}

WEAK int sem_init(sem_t* s, int shared, unsigned value) {
  (void)shared;
  if (value > SEM_VALUE_MAX) return fail_with(EINVAL);
  semaphore_of(s)->value = value;
  return 0;
}
WEAK int sem_destroy(sem_t* s) {
  (void)s;
  return 0;
}
WEAK int sem_getvalue(sem_t* s, int* value) {
  __godwit_spin();
  *value = (int)semaphore_of(s)->value;
  return 0;
}
WEAK int sem_post(sem_t* s) {
  if (semaphore_of(s)->value == SEM_VALUE_MAX) return fail_with(EOVERFLOW);
  ++semaphore_of(s)->value;
  godwit_wake(s, 1);
  return 0;
}
WEAK int sem_trywait(sem_t* s) {
  __godwit_spin();
  if (semaphore_of(s)->value == 0) return fail_with(EAGAIN);
  --semaphore_of(s)->value;
  return 0;
}
INLINE int wait_for_semaphore(sem_t* s, const struct timespec* until) {
  while (semaphore_of(s)->value == 0) {
    const int waited = wait_until(s, CLOCK_REALTIME, until, "a semaphore");
    if (waited != 0) return fail_with(waited);
  }
  --semaphore_of(s)->value;
  return 0;
}
WEAK int sem_timedwait(sem_t* s, const struct timespec* until) { return wait_for_semaphore(s, until); }
WEAK int sem_wait(sem_t* s) { return wait_for_semaphore(s, NULL); }
WEAK sem_t* sem_open(const char* name, int flags, ...) {
  (void)name, (void)flags;
  errno = ENOSYS;
  return SEM_FAILED;
}
WEAK int sem_close(sem_t* s) {
  (void)s;
  return fail_with(ENOSYS);
}
WEAK int sem_unlink(const char* name) {
  (void)name;
  return fail_with(ENOSYS);
}

// --- as C has them

static int c_result(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ETIMEDOUT:
      return thrd_timedout;
    default:
      return thrd_error;
  }
}

WEAK int mtx_init(mtx_t* m, int type) {
  *(struct mutex*)m = (struct mutex){.type = type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL};
  return thrd_success;
}
WEAK void mtx_destroy(mtx_t* m) { (void)m; }
WEAK int mtx_lock(mtx_t* m) { return c_result(lock((struct mutex*)m, NULL)); }
WEAK int mtx_timedlock(mtx_t* m, const struct timespec* until) { return c_result(lock((struct mutex*)m, until)); }
WEAK int mtx_trylock(mtx_t* m) { return c_result(pthread_mutex_trylock((pthread_mutex_t*)m)); }
WEAK int mtx_unlock(mtx_t* m) { return c_result(unlock((struct mutex*)m)); }

WEAK int cnd_init(cnd_t* c) {
  memset(c, 0, sizeof *c);
  return thrd_success;
}
WEAK void cnd_destroy(cnd_t* c) { (void)c; }
WEAK int cnd_wait(cnd_t* c, mtx_t* m) { return c_result(wait_for_signal(c, (struct mutex*)m, CLOCK_REALTIME, NULL)); }
WEAK int cnd_timedwait(cnd_t* c, mtx_t* m, const struct timespec* until) {
  return c_result(wait_for_signal(c, (struct mutex*)m, CLOCK_REALTIME, until));
}
WEAK int cnd_signal(cnd_t* c) {
  godwit_wake(c, 1);
  return thrd_success;
}
WEAK int cnd_broadcast(cnd_t* c) {
  godwit_wake(c, kAll);
  return thrd_success;
}
WEAK void call_once(once_flag* once, void (*function)(void)) { pthread_once(once, function); }
