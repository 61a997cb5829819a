#ifndef GODWIT_SETJMP_H
#define GODWIT_SETJMP_H
/* wasi-libc of Debian 12 has no setjmp.h. Signal masks are not saved: a wasm32-wasi program has none. */

#ifdef __cplusplus
extern "C" {
#endif

struct __jmp_buf {
  void* frame; /* of the function that called setjmp */
  unsigned label;
  void* to; /* this and the next: the jump on its way */
  int value;
  int spare[4];
};

typedef struct __jmp_buf jmp_buf[1];
typedef jmp_buf sigjmp_buf;

int setjmp(jmp_buf) __attribute__((returns_twice));
__attribute__((__noreturn__)) void longjmp(jmp_buf, int);

#define setjmp setjmp
#define _setjmp(buffer) setjmp(buffer)
#define _longjmp(buffer, value) longjmp(buffer, value)
#define sigsetjmp(buffer, save) setjmp(buffer)
#define siglongjmp(buffer, value) longjmp(buffer, value)

#ifdef __cplusplus
}
#endif

#endif
