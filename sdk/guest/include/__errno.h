#ifndef GODWIT_ERRNO_H
#define GODWIT_ERRNO_H
/* wasi-libc declares errno as a thread_local variable, of which its library has one for all threads. The scheduler of guest threads keeps a
   value for each (sdk/guest/runtime/threads.c). */

#ifdef __cplusplus
extern "C" {
#endif
extern int errno;
#ifdef __cplusplus
}
#endif
#define errno errno

#endif
