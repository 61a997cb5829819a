#ifndef GODWIT_SPIN_H
#define GODWIT_SPIN_H
/* A thread that waits for another one by looking at an atomic variable again and again would wait for ever, since the other one does not
   run meanwhile. So looking counts, and after many times the thread yields (sdk/guest/runtime/threads.c). In a program without threads the
   function does not exist and nothing is called. */

#ifdef __cplusplus
extern "C"
#endif
    void
    godwit_thread_spin(void) __attribute__((weak, nothrow));

static inline __attribute__((always_inline)) void __godwit_spin(void) {
  if (godwit_thread_spin) godwit_thread_spin();
}

#endif
