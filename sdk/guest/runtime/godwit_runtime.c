// Linked into every guest that 'godwit build' makes. Small and without libc++: what a program does not use, the linker drops.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The host asks the program to stop by a store here. The pre-processor finds it by its exported address; the program never touches it.
_Alignas(16) int godwit_poll_cell;

// Where the program begins, in place of libc's own: with that one the linker wraps every export into constructors and destructors, and a
// program that carries out tasks (godwit/task.h) must run the former once and the latter never.
extern int __original_main(void);
extern void __wasm_call_ctors(void);

// In C++ programs this is the one in exceptions.cc, which no exception leaves.
__attribute__((weak)) void godwit_run_program(void) {
  __wasm_call_ctors();
  exit(__original_main());
}

// That of threads.c takes precedence, in programs that make threads.
__attribute__((weak, export_name("_start"))) void _start(void) { godwit_run_program(); }

// Debian built some of the compiler's own functions (128-bit division) with stack protectors, which wasi-libc does not have. The value is
// not secret: a guest's stack overwrites nothing that is not the guest's own.
uintptr_t __stack_chk_guard = 0x00000aff;

_Noreturn void __stack_chk_fail(void) {
  static const char kText[] = "godwit: the stack of the program has been overwritten\n";
  const ssize_t ignored = write(STDERR_FILENO, kText, sizeof kText - 1);
  (void)ignored;
  abort();
}

// wasi-libc's compares byte by byte, and for wasm the compiler leaves even a comparison of eight bytes to it. Weak: a program may bring its
// own.
__attribute__((weak, no_builtin("memcmp", "bcmp"))) int memcmp(const void* left, const void* right, size_t size) {
  const unsigned char* l = left;
  const unsigned char* r = right;
  for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), l += sizeof(uint64_t), r += sizeof(uint64_t)) {
    uint64_t a, b;
    memcpy(&a, l, sizeof a);
    memcpy(&b, r, sizeof b);
    if (a == b) continue;
    const int first = __builtin_ctzll(a ^ b) & ~7;  // little endian: the lowest byte that differs comes first
    return (int)(a >> first & 0xff) - (int)(b >> first & 0xff);
  }
  for (; size > 0; --size, ++l, ++r) {
    if (*l != *r) return *l - *r;
  }
  return 0;
}
