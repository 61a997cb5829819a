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

/* --- messages between the threads of a job: each is delivered once, in order for each pair of threads, wherever they run and whatever dies
 */

enum { GODWIT_MAIL_MESSAGE = 0, GODWIT_MAIL_NOTICE = 1 };

struct godwit_mail {
  uint64_t from;
  uint64_t tag;       /* of a notice 0 */
  uint32_t size;      /* of the bytes */
  uint32_t kind;      /* a notice: the thread `from`, for which this one watches, is over. Its bytes say why, if it did not simply exit */
  uint32_t exit_code; /* of a notice */
  uint32_t reserved;
};

#define GODWIT_FOREVER UINT64_MAX

/* To a thread of the same job, at most 1 MiB, else EINVAL. What is sent to a thread that is over, or never was, is dropped. Waits while too
   much is on its way. ENOTSUP: the program does not run as part of a job. */
int godwit_send(uint64_t to, uint64_t tag, const void* bytes, size_t size) GODWIT_IMPORT("send");

/* The next message or notice for this thread, in the order in which they came; waits for it. ETIMEDOUT: none came within so many
   nanoseconds. ENOBUFS: it has more bytes than `capacity`, as header->size says, and is still there. */
int godwit_receive(struct godwit_mail* header, void* buffer, size_t capacity, uint64_t timeout_ns) GODWIT_IMPORT("receive");

/* This thread gets a notice when that one is over; at once, if it is or never was. */
int godwit_watch(uint64_t thread) GODWIT_IMPORT("watch");

#ifdef __cplusplus
}
#endif

#endif
