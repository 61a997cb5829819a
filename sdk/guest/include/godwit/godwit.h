#ifndef GODWIT_GODWIT_H
#define GODWIT_GODWIT_H
/* What a guest program may ask of Godwit. C, usable from C++; every program also runs without any of it.
   The calls one by one, with their types and errors: docs/guest-abi.md. Those that can fail return 0 or an error number of <errno.h>. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GODWIT_IMPORT(name) __attribute__((import_module("godwit"), import_name(name)))

/* A good moment to suspend or save this program: with --mobile=coarse the only one besides blocking calls, otherwise just a hint.
   Returns when the program goes on, perhaps on another machine. */
void godwit_checkpoint(void) GODWIT_IMPORT("checkpoint");

/* Makes a second virtual thread that goes on from here with a copy of everything: memory, files, descriptors. `*child` becomes 0 in it, and
   its id in the thread that called. The child has no input and its own output and random numbers; it ends by returning from main or by
   exit(). EAGAIN: there are as many threads as there may be, or the program cannot be suspended (--mobile=off). */
int godwit_fork(uint64_t* child) GODWIT_IMPORT("fork");

/* A partial result, handed to whoever started this program, once. At most 1 MiB, else EINVAL. */
int godwit_report(const void* bytes, size_t size) GODWIT_IMPORT("report");

/* The id of this virtual thread: 1 where main began, another one in each child of a fork, never 0. */
int godwit_thread_id(uint64_t* id) GODWIT_IMPORT("thread_id");

#ifdef __cplusplus
}
#endif

#endif
