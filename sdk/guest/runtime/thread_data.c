// What each thread has of its own: values of keys and thread_local variables, and what is called when it ends.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "guest_thread.h"

#define WEAK __attribute__((weak))

struct godwit_thread godwit_main_thread = {.number = 1, .name = "main"};
struct godwit_thread* godwit_current_thread = &godwit_main_thread;

WEAK pthread_t pthread_self(void) { return (pthread_t)godwit_current_thread; }
#undef pthread_equal
WEAK int pthread_equal(pthread_t a, pthread_t b) { return a == b; }
WEAK thrd_t thrd_current(void) { return (thrd_t)godwit_current_thread; }
#undef thrd_equal
WEAK int thrd_equal(thrd_t a, thrd_t b) { return a == b; }

// --- keys

static struct {
  void (*destroy)(void*);
  unsigned use;  // counts how often the key was created and deleted: odd while it exists
} keys[PTHREAD_KEYS_MAX];

static int exists(pthread_key_t key) { return key < PTHREAD_KEYS_MAX && keys[key].use % 2 == 1; }

WEAK int pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) {
  for (pthread_key_t i = 0; i < PTHREAD_KEYS_MAX; ++i) {
    if (exists(i)) continue;
    ++keys[i].use;
    keys[i].destroy = destroy;
    *key = i;
    return 0;
  }
  return EAGAIN;
}

WEAK int pthread_key_delete(pthread_key_t key) {
  if (!exists(key)) return EINVAL;
  ++keys[key].use;
  return 0;
}

WEAK void* pthread_getspecific(pthread_key_t key) {
  const struct godwit_thread_value* const values = godwit_current_thread->values;
  if (!values || !exists(key) || values[key].key_use != keys[key].use) return NULL;
  return values[key].value;
}

WEAK int pthread_setspecific(pthread_key_t key, const void* value) {
  if (!exists(key)) return EINVAL;
  struct godwit_thread* const self = godwit_current_thread;
  if (!self->values) self->values = calloc(PTHREAD_KEYS_MAX, sizeof *self->values);
  if (!self->values) return ENOMEM;
  self->values[key] = (struct godwit_thread_value){keys[key].use, (void*)value};
  return 0;
}

static void destroy_values(struct godwit_thread* self) {
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS && self->values; ++round) {
    int destroyed = 0;
    for (pthread_key_t i = 0; i < PTHREAD_KEYS_MAX; ++i) {
      void* const value = pthread_getspecific(i);
      if (!value) continue;
      self->values[i].value = NULL;
      if (!keys[i].destroy) continue;
      keys[i].destroy(value);
      destroyed = 1;
    }
    if (!destroyed) break;
  }
  free(self->values);
  self->values = NULL;
}

WEAK int tss_create(tss_t* key, tss_dtor_t destroy) { return pthread_key_create(key, destroy) == 0 ? thrd_success : thrd_error; }
WEAK void tss_delete(tss_t key) { pthread_key_delete(key); }
WEAK void* tss_get(tss_t key) { return pthread_getspecific(key); }
WEAK int tss_set(tss_t key, void* value) { return pthread_setspecific(key, value) == 0 ? thrd_success : thrd_error; }

// --- destructors of thread_local objects

struct godwit_thread_exit {
  void (*destroy)(void*);
  void* object;
  struct godwit_thread_exit* next;
};

static void destroy_objects(void) {
  struct godwit_thread* const self = godwit_current_thread;
  for (struct godwit_thread_exit* entry; (entry = self->at_exit);) {
    self->at_exit = entry->next;
    entry->destroy(entry->object);
    free(entry);
  }
}

// The thread that ends the program does so without the destructors of keys, as POSIX has it.
static int destroy_at_end_of_program(void) {
  static int registered;
  if (registered) return 0;
  registered = 1;
  return atexit(destroy_objects);
}

int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) {
  (void)library;
  struct godwit_thread_exit* const entry = malloc(sizeof *entry);
  if (!entry) return -1;
  *entry = (struct godwit_thread_exit){destroy, object, godwit_current_thread->at_exit};
  godwit_current_thread->at_exit = entry;
  return destroy_at_end_of_program();
}

// --- thread_local variables. toolchain/thread_locals.cc makes each access a call of godwit_thread_variable.

struct thread_variable {
  size_t size, alignment;
  size_t number;        // 0: no thread has one yet. Without other threads: its address
  const void* initial;  // null: zeros
};

static _Noreturn void end_without_memory(void) {
  static const char kText[] = "godwit: out of memory: no room for the thread_local variables of a thread\n";
  const ssize_t ignored = write(STDERR_FILENO, kText, sizeof kText - 1);
  (void)ignored;
  _Exit(kGodwitAbortExitCode);
}

static void* make_variable(const struct thread_variable* v) {
  const size_t alignment = v->alignment < sizeof(void*) ? sizeof(void*) : v->alignment;
  void* const variable = aligned_alloc(alignment, (v->size + alignment - 1) / alignment * alignment);
  if (!variable) end_without_memory();
  if (v->initial) {
    memcpy(variable, v->initial, v->size);
  } else {
    memset(variable, 0, v->size);
  }
  return variable;
}

static __attribute__((noinline)) void* variable_of_new_thread(struct thread_variable* v) {
  static size_t variables;
  if (v->number == 0) v->number = ++variables;
  struct godwit_thread* const self = godwit_current_thread;
  if (self->variable_count < v->number) {
    void** const larger = realloc(self->variables, variables * sizeof *larger);
    if (!larger) end_without_memory();
    memset(larger + self->variable_count, 0, (variables - self->variable_count) * sizeof *larger);
    self->variables = larger;
    self->variable_count = variables;
  }
  return self->variables[v->number - 1] = make_variable(v);
}

void* godwit_thread_variable(struct thread_variable* v) {
  if (!godwit_threads_run) {
    if (v->number == 0) v->number = (size_t)make_variable(v);
    return (void*)v->number;
  }
  const struct godwit_thread* const self = godwit_current_thread;
  void* const variable = v->number != 0 && v->number <= self->variable_count ? self->variables[v->number - 1] : NULL;
  return variable ? variable : variable_of_new_thread(v);
}

static void free_variables(struct godwit_thread* self) {
  for (size_t i = 0; i < self->variable_count; ++i) free(self->variables[i]);
  free(self->variables);
  self->variables = NULL;
  self->variable_count = 0;
}

// --- cleanup handlers

void __godwit_cleanup_push(struct __godwit_cleanup* cleanup) {
  cleanup->__next = godwit_current_thread->cleanups;
  godwit_current_thread->cleanups = cleanup;
}

void __godwit_cleanup_pop(int execute) {
  struct __godwit_cleanup* const cleanup = godwit_current_thread->cleanups;
  godwit_current_thread->cleanups = cleanup->__next;
  if (execute) cleanup->__function(cleanup->__argument);
}

// --- the end

void godwit_end_thread_data(void) {
  destroy_objects();
  destroy_values(godwit_current_thread);
  destroy_objects();  // those that destructors of values have made
  free_variables(godwit_current_thread);
}
