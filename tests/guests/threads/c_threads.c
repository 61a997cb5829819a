// Threads as C11 has them, and _Thread_local variables.
#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

enum { kThreads = 3 };

static mtx_t mutex;
static cnd_t condition;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static atomic_int waiting;
static int open_gate, calls, sum, ended;
_Thread_local int own = 10;

static void call(void) { ++calls; }
static void end(void* value) { ended += *(int*)value; }

static int work(void* number) {
  const int n = *(int*)number;
  call_once(&once, call);
  tss_set(key, number);
  own += n;
  mtx_lock(&mutex);
  ++waiting;
  while (!open_gate) cnd_wait(&condition, &mutex);
  sum += own;
  mtx_unlock(&mutex);
  thrd_yield();
  return own + *(int*)tss_get(key);
}

int main(void) {
  int numbers[kThreads] = {1, 2, 3};
  thrd_t threads[kThreads];
  mtx_init(&mutex, mtx_timed);
  cnd_init(&condition);
  tss_create(&key, end);
  for (int i = 0; i < kThreads; ++i) thrd_create(&threads[i], work, &numbers[i]);
  while (atomic_load(&waiting) < kThreads) {
  }
  mtx_lock(&mutex);
  open_gate = 1;
  cnd_broadcast(&condition);
  mtx_unlock(&mutex);
  int results = 0;
  for (int i = 0; i < kThreads; ++i) {
    int result;
    thrd_join(threads[i], &result);
    results += result;
  }
  struct timespec soon;
  timespec_get(&soon, TIME_UTC);
  mtx_lock(&mutex);
  printf("sum %d, results %d, calls %d, ended %d, own %d\n", sum, results, calls, ended, own);
  printf("timed out %d\n", cnd_timedwait(&condition, &mutex, &soon) == thrd_timedout);
  mtx_unlock(&mutex);
  thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}
