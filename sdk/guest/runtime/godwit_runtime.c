// Linked into every guest that 'godwit build' makes. Small and without libc++: what a program does not use, the linker drops.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reserved_memory.h"

// Reserved at link time, so that the memory layout of a program does not depend on whether it was ever suspended. The pre-processor finds
// both by their exported addresses; the program itself never touches them.
_Alignas(16) char godwit_unwind_stack[GODWIT_UNWIND_BYTES];
_Alignas(16) int godwit_poll_cell;

// Where the program begins, in place of libc's own: with that one the linker wraps every export into constructors and destructors, and a
// program that carries out tasks (godwit/task.h) must run the former once and the latter never.
extern int __original_main(void);
extern void __wasm_call_ctors(void);

__attribute__((export_name("_start"))) void _start(void) {
  __wasm_call_ctors();
  exit(__original_main());
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

// Debian's wasm libc++ has no exceptions. Programs are compiled with -fignore-exceptions: `catch` never runs, and a `throw` ends the
// program here, naming the type.

enum { kMaxNameBytes = 256, kAbortExitCode = 134 };

struct Text {
  char bytes[kMaxNameBytes];
  size_t size;
};

static void append(struct Text* text, const char* bytes, size_t size) {
  if (size > kMaxNameBytes - text->size) size = kMaxNameBytes - text->size;
  memcpy(text->bytes + text->size, bytes, size);
  text->size += size;
}

static void append_string(struct Text* text, const char* string) { append(text, string, strlen(string)); }

// Reads "<length><identifier>"; returns what follows, or NULL.
static const char* append_identifier(struct Text* text, const char* mangled) {
  size_t length = 0;
  while (*mangled >= '0' && *mangled <= '9') length = length * 10 + (size_t)(*mangled++ - '0');
  if (length == 0 || strlen(mangled) < length) return NULL;
  append(text, mangled, length);
  return mangled + length;
}

// Names of classes in namespaces, which is what people throw: "St13runtime_error", "N4shop8NotFoundE". Returns NULL for anything else; the
// full demangler of libc++abi would add 100 KB to every C++ program.
static const char* append_class_name(struct Text* text, const char* mangled) {
  const int nested = *mangled == 'N';
  mangled += nested;
  if (strncmp(mangled, "St", 2) == 0) {
    append_string(text, "std::");
    mangled += 2;
  }
  mangled = append_identifier(text, mangled);
  while (nested && mangled != NULL && *mangled != 'E' && *mangled != '\0') {
    append_string(text, "::");
    mangled = append_identifier(text, mangled);
  }
  return mangled == NULL ? NULL : mangled + nested;
}

static const char* builtin_name(const char* mangled) {
  static const char* const kNames[][2] = {{"i", "int"},       {"j", "unsigned int"}, {"l", "long"}, {"m", "unsigned long"},
                                          {"x", "long long"}, {"b", "bool"},         {"c", "char"}, {"PKc", "const char*"},
                                          {"Pc", "char*"},    {"d", "double"}};
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    if (strcmp(mangled, kNames[i][0]) == 0) return kNames[i][1];
  }
  return NULL;
}

static void append_type_name(struct Text* text, const char* mangled) {
  const char* const builtin = builtin_name(mangled);
  if (builtin != NULL) {
    append_string(text, builtin);
    return;
  }
  const size_t start = text->size;
  const char* const rest = append_class_name(text, mangled);
  if (rest != NULL && *rest == '\0') return;
  text->size = start;
  append_string(text, mangled);
}

// The beginning of a std::type_info, as the Itanium C++ ABI lays it out.
struct TypeInfo {
  const void* vtable;
  const char* name;
};

// Room for the object that is thrown; it is constructed before __cxa_throw is called, so it must be real memory.
void* __cxa_allocate_exception(size_t size) {
  void* const object = malloc(size);
  if (object == NULL) abort();
  return object;
}

void __cxa_free_exception(void* object) { free(object); }

_Noreturn static void end_program(const char* verb, const char* mangled_type) {
  struct Text message = {.size = 0};
  append_string(&message, "godwit: program ");
  append_string(&message, verb);
  append_type_name(&message, mangled_type);
  append_string(&message, ": exceptions are not supported, see sdk/guest/README.md\n");
  // Nothing is left to do if stderr cannot be written.
  const ssize_t ignored = write(STDERR_FILENO, message.bytes, message.size);
  (void)ignored;
  _Exit(kAbortExitCode);
}

_Noreturn void __cxa_throw(void* object, const struct TypeInfo* type, void (*destructor)(void*)) {
  (void)object;
  (void)destructor;
  end_program("threw ", type->name);
}

_Noreturn void __cxa_rethrow(void) { end_program("rethrew ", "an exception"); }

// libc++abi has these three, but they only trap.
_Noreturn void __cxa_bad_cast(void) { end_program("threw ", "St8bad_cast"); }
_Noreturn void __cxa_bad_typeid(void) { end_program("threw ", "St10bad_typeid"); }
_Noreturn void __cxa_throw_bad_array_new_length(void) { end_program("threw ", "St20bad_array_new_length"); }
