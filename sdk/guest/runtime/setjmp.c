// setjmp and longjmp for clang's -wasm-enable-sjlj. The compiler makes setjmp a call of __wasm_setjmp and longjmp one of __wasm_longjmp,
// which throws; a function that calls setjmp catches that, and asks __wasm_setjmp_test whether the jump is meant for it.

#include <setjmp.h>

// What the exception carries: a layout the compiler knows. It lies in the jmp_buf, so that images hold it.
struct Jump {
  struct __jmp_buf* to;
  int value;
};

enum { kLongjmpTag = 1 };

// `frame` is an address in the frame of the caller; `label` says which setjmp of the function it is, from 1.
void __wasm_setjmp(struct __jmp_buf* buffer, unsigned label, void* frame) {
  buffer->frame = frame;
  buffer->label = label;
}

// The label, or 0: the jump is for another frame.
unsigned __wasm_setjmp_test(struct __jmp_buf* buffer, void* frame) { return buffer->frame == frame ? buffer->label : 0; }

_Noreturn void __wasm_longjmp(struct __jmp_buf* buffer, int value) {
  struct Jump* const jump = (struct Jump*)&buffer->to;
  jump->to = buffer;
  jump->value = value == 0 ? 1 : value;
  __builtin_wasm_throw(kLongjmpTag, jump);
}
