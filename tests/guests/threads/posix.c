// POSIX threads: results, mutexes of all types, conditions with a deadline, read-write locks, keys, barriers, spin locks, semaphores, once.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 4 };

static struct timespec in_milliseconds(int milliseconds) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += milliseconds * 1000000L;
  time.tv_sec += time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}

static void* square(void* n) { return (void*)((long)n * (long)n); }
static void* leave(void* n) {
  errno = (int)(long)n;
  sched_yield();
  if (errno != (int)(long)n) printf("errno is shared\n");
  pthread_exit((void*)((long)n + 1));
}

static void results(void) {
  long sum = 0;
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, i % 2 ? square : leave, (void*)i);
  for (int i = 0; i < kThreads; ++i) {
    void* result;
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  printf("results %ld, self %d\n", sum, pthread_equal(pthread_self(), pthread_self()) != 0);
}

static void mutex_types(void) {
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  pthread_mutex_t mutex;
  pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &attr);
  printf("errorcheck %d", pthread_mutex_unlock(&mutex) == EPERM);
  pthread_mutex_lock(&mutex);
  printf(" %d %d\n", pthread_mutex_lock(&mutex) == EDEADLK, pthread_mutex_trylock(&mutex) == EBUSY);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_destroy(&mutex);
  pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &attr);
  printf("recursive %d", pthread_mutex_lock(&mutex));
  printf(" %d", pthread_mutex_trylock(&mutex));
  printf(" %d %d %d\n", pthread_mutex_unlock(&mutex), pthread_mutex_unlock(&mutex), pthread_mutex_unlock(&mutex) == EPERM);
  pthread_mutex_destroy(&mutex);
  pthread_mutexattr_destroy(&attr);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;

static void* take_turns(void* number) {
  for (int round = 0; round < 3; ++round) {
    pthread_mutex_lock(&mutex);
    while (turn % kThreads != (int)(long)number) pthread_cond_wait(&condition, &mutex);
    ++turn;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void* try_for_a_while(void* unused) {
  (void)unused;
  struct timespec until = in_milliseconds(3);
  return (void*)(long)(pthread_mutex_timedlock(&mutex, &until) == ETIMEDOUT);
}

static void conditions(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, take_turns, (void*)(kThreads - 1 - i));
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  struct timespec until = in_milliseconds(3);
  pthread_mutex_lock(&mutex);
  printf("turns %d, timed out %d", turn, pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
  void* timed_out;
  pthread_create(&threads[0], NULL, try_for_a_while, NULL);
  pthread_join(threads[0], &timed_out);
  pthread_mutex_unlock(&mutex);
  printf(" %ld\n", (long)timed_out);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int written, torn;

static void* read_or_write(void* number) {
  for (int i = 0; i < 5; ++i) {
    if ((long)number == 0) {
      pthread_rwlock_wrlock(&rwlock);
      ++written;
      sched_yield();
      ++written;
    } else {
      pthread_rwlock_rdlock(&rwlock);
      const int seen = written;
      sched_yield();
      if (seen % 2 || seen != written) torn = 1;
    }
    pthread_rwlock_unlock(&rwlock);
  }
  return NULL;
}

static pthread_key_t key;
static int destroyed;
static void destroy(void* value) {
  destroyed += *(int*)value;
  free(value);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls;
static void call_once_only(void) {
  sched_yield();
  ++calls;
}

static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static sem_t semaphore;
static int serial, counted;

static void* all_the_rest(void* number) {
  int* const value = malloc(sizeof *value);
  *value = (int)(long)number;
  pthread_setspecific(key, value);
  pthread_once(&once, call_once_only);
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
  sem_wait(&semaphore);
  pthread_spin_lock(&spin);
  const int before = counted;
  sched_yield();
  counted = before + *(int*)pthread_getspecific(key);
  pthread_spin_unlock(&spin);
  sem_post(&semaphore);
  return NULL;
}

static int cleaned;
static void clean(void* amount) { cleaned += (int)(long)amount; }
static void* leave_with_cleanup(void* unused) {
  (void)unused;
  pthread_cleanup_push(clean, (void*)1);
  pthread_cleanup_push(clean, (void*)2);
  pthread_cleanup_pop(0);
  pthread_exit(NULL);
  pthread_cleanup_pop(0);
  return NULL;
}

static void the_rest(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, read_or_write, (void*)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  printf("written %d, torn %d\n", written, torn);
  pthread_key_create(&key, destroy);
  pthread_barrier_init(&barrier, NULL, kThreads);
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  sem_init(&semaphore, 0, 2);
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, all_the_rest, (void*)(i + 1));
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  struct timespec until = in_milliseconds(2);
  sem_wait(&semaphore);
  sem_wait(&semaphore);
  printf("counted %d, destroyed %d, once %d, serial %d\n", counted, destroyed, calls, serial);
  printf("semaphore %d", sem_trywait(&semaphore) == -1 && errno == EAGAIN);
  printf(" %d\n", sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
  pthread_key_delete(key);
  pthread_create(&threads[0], NULL, leave_with_cleanup, NULL);
  pthread_join(threads[0], NULL);
  printf("cleaned %d\n", cleaned);
}

static int detached_ran;
static void* detached(void* unused) {
  (void)unused;
  char room[100000];
  memset(room, 1, sizeof room);
  detached_ran += room[99999];
  return NULL;
}

static void attributes(void) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  size_t size;
  printf("attr %d", pthread_attr_setstacksize(&attr, 256 * 1024));
  pthread_attr_getstacksize(&attr, &size);
  printf(" %zu %d\n", size, pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED));
  pthread_t thread;
  for (int i = 0; i < 3; ++i) pthread_create(&thread, &attr, detached, NULL);
  pthread_attr_destroy(&attr);
  while (detached_ran < 3) usleep(1000);
  printf("detached %d\n", detached_ran);
}

static void* last(void* unused) {
  (void)unused;
  usleep(2000);
  printf("last\n");
  return NULL;
}

int main(void) {
  results();
  mutex_types();
  conditions();
  the_rest();
  attributes();
  pthread_t thread;
  pthread_create(&thread, NULL, last, NULL);
  pthread_exit(NULL);
}
