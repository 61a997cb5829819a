#ifndef GODWIT_TASK_H
#define GODWIT_TASK_H
/* Makes a program one that carries out tasks: functions that a warm copy of it is asked to call, again and again, each time from the state
   the program has after its constructors. main() is not called there. Including this is enough; C, usable from C++.

   A task is known by its address, which is the same in every copy of the program:

     void square(const void* argument, size_t size) {
       double x = *(const double*)argument;
       x *= x;
       godwit_task_result(&x, sizeof x);
     } */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <godwit/godwit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The argument is a copy, aligned for any type, and goes away after the call. */
typedef void godwit_task_function(const void* argument, size_t size);

/* What the task in progress answers; without it, nothing. Of several the last one counts. At most 1 MiB, else EINVAL; ENOTSUP outside
 * tasks. */
int godwit_task_result(const void* bytes, size_t size) GODWIT_IMPORT("task_result");

/* --- what follows is between this header and the host */

int godwit_task_next(uint32_t* function, uint32_t* size) GODWIT_IMPORT("task_next");
int godwit_task_argument(void* buffer, size_t size) GODWIT_IMPORT("task_argument");
void __wasm_call_ctors(void);

/* An exception that leaves a task ends the program with its type and text. */
#ifdef __cplusplus
#define GODWIT_NOEXCEPT noexcept
#else
#define GODWIT_NOEXCEPT
#endif

/* In programs that make threads: threads of a task end with it. */
void godwit_threads_run(void (*body)(void)) __attribute__((weak));

__attribute__((weak)) void godwit_task_body(void) GODWIT_NOEXCEPT {
  uint32_t function = 0, size = 0;
  if (godwit_task_next(&function, &size) != 0) abort();
  void* argument = size == 0 ? NULL : malloc(size);
  if (size != 0 && (argument == NULL || godwit_task_argument(argument, size) != 0)) abort();
  ((godwit_task_function*)(uintptr_t)function)(argument, size);
}

__attribute__((weak)) void godwit_task_constructors(void) GODWIT_NOEXCEPT { __wasm_call_ctors(); }

__attribute__((weak, export_name("godwit_task_init"))) void godwit_task_init(void) {
  if (godwit_threads_run) {
    godwit_threads_run(godwit_task_constructors);
  } else {
    godwit_task_constructors();
  }
}

__attribute__((weak, export_name("godwit_task_run"))) void godwit_task_run(void) {
  if (godwit_threads_run) {
    godwit_threads_run(godwit_task_body);
  } else {
    godwit_task_body();
  }
}

#ifdef __cplusplus
}
#endif

#endif
