// Throwing, catching and rethrowing for clang's -fwasm-exceptions: what Debian's libc++abi for wasm32, built without exceptions, lacks.
// Linked into C++ programs (docs/design/010-exceptions.md). All state is in memory, so an image of the program holds it.
//
// The exception that wasm code throws carries the address of a Throw. It is in the list `in_flight` from the throw until a clause catches
// it, then in the list `caught` until the last clause that holds it is left. An object is destroyed when the last of its Throws and
// std::exception_ptrs is gone.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <typeinfo>
#include <utility>

#include "type_names.h"

namespace godwit {

// libc++abi's type_infos answer whether a clause of their type takes an object of another type, and where in it: the fifth virtual
// function, after two destructors and two that do nothing. Declared here only for its place in the table of virtual functions.
struct CatchType : std::type_info {
  virtual void unused1() const;
  virtual void unused2() const;
  virtual bool can_catch(const CatchType* thrown, void*& object) const;
};

}  // namespace godwit

// In programs built with --debug only (throw_marks.c).
extern "C" __attribute__((weak)) void godwit_mark_throw(int mark);

namespace {

enum ThrowMark { kThrown = 0, kUncaught = 1 };

constexpr int kAbortExitCode = 134;  // 128 + SIGABRT
constexpr int kCxxExceptionTag = 0;

// In wasm's C++ ABI constructors and destructors return `this`; an indirect call of another type traps.
using Destructor = void* (*)(void*);

// A throw. The object of a primary throw lies behind it. std::rethrow_exception makes another Throw of the same object, since the first may
// still be in a handler when the second is caught.
struct alignas(16) Throw {
  Throw* next_in_flight;
  Throw* next_caught;
  Throw* primary;  // the one that has the object
  int handlers;    // catch clauses that hold it; negative: thrown again while they are being left
  void* adjusted;  // the object as the chosen clause sees it: a base, or the pointer that was thrown
  // Only for a primary throw:
  int references;  // its own, those of exception_ptrs and of other Throws
  const std::type_info* type;
  Destructor destroy;  // may be null

  void* object() { return primary + 1; }
};

Throw* from_object(void* object) { return static_cast<Throw*>(object) - 1; }

struct State {
  Throw* in_flight;  // the last thrown first
  Throw* caught;     // the innermost clause first
  unsigned uncaught;
};

}  // namespace

// Of the thread that runs: threads.c knows it as three words, and keeps those of the others.
extern "C" State godwit_exceptions;
State godwit_exceptions;

namespace {

State& state = godwit_exceptions;

// Room for exceptions when memory has run out, std::bad_alloc first of all.
class Reserve {
 public:
  void* take(size_t size) {
    if (size > kSlotBytes) return nullptr;
    for (unsigned i = 0; i < kSlots; ++i) {
      if (used_[i]) continue;
      used_[i] = true;
      return slots_[i];
    }
    return nullptr;
  }
  bool give_back(void* memory) {
    for (unsigned i = 0; i < kSlots; ++i) {
      if (memory != slots_[i]) continue;
      used_[i] = false;
      return true;
    }
    return false;
  }

 private:
  static constexpr unsigned kSlots = 8;
  static constexpr size_t kSlotBytes = 512;
  alignas(16) char slots_[kSlots][kSlotBytes];
  bool used_[kSlots];
};
Reserve reserve;

void free_throw(Throw* t) {
  if (!reserve.give_back(t)) free(t);
}

void release(Throw* primary) {
  if (--primary->references > 0) return;
  if (primary->destroy) primary->destroy(primary + 1);
  free_throw(primary);
}

[[noreturn]] inline void send(Throw* t) {
  t->next_in_flight = state.in_flight;
  state.in_flight = t;
  ++state.uncaught;
  __builtin_wasm_throw(kCxxExceptionTag, t);
}

bool takes(const std::type_info* clause, const std::type_info* thrown, void*& object) {
  if (!clause) return true;  // catch (...)
  return static_cast<const godwit::CatchType*>(clause)->can_catch(static_cast<const godwit::CatchType*>(thrown), object);
}

uint32_t read_uleb(const uint8_t*& at) {
  uint32_t value = *at & 0x7f;
  for (unsigned shift = 7; *at++ & 0x80; shift += 7) value |= static_cast<uint32_t>(*at & 0x7f) << shift;
  return value;
}

int32_t read_sleb(const uint8_t*& at) {
  const uint8_t* const start = at;
  uint32_t value = read_uleb(at);
  const unsigned bits = 7 * static_cast<unsigned>(at - start);
  if (bits < 32 && (at[-1] & 0x40)) value |= ~0u << bits;
  return static_cast<int32_t>(value);
}

void print(const char* text, size_t size) {
  const ssize_t ignored = write(STDERR_FILENO, text, size);  // nothing is left to do if stderr cannot be written
  (void)ignored;
}
void print(const char* text) { print(text, strlen(text)); }

// The default handler of std::terminate.
[[noreturn]] void print_and_end() {
  if (state.caught && godwit_mark_throw) godwit_mark_throw(kUncaught);
  if (Throw* const t = state.caught) {
    char name[GODWIT_MAX_TYPE_NAME];
    print("godwit: uncaught exception of type ");
    print(name, godwit_type_name(t->primary->type->name(), name));
    void* object = t->object();
    if (takes(&typeid(std::exception), t->primary->type, object)) {
      print(": ");
      print(static_cast<std::exception*>(object)->what());
    }
    print("\n");
  } else {
    print("godwit: std::terminate was called without an exception\n");
  }
  _Exit(kAbortExitCode);
}

}  // namespace

extern "C" {

// The arguments of a landing pad to _Unwind_CallPersonality, and its answer. The compiler fixes this layout.
struct LandingPad {
  uint32_t index;        // which of the function's
  const uint8_t* table;  // of the function
  int32_t selector;      // the number of the clause, 0: none
};
LandingPad __wasm_lpad_context;

// Chooses the clause of a landing pad. The table of a function: 0xff; how types are written (0: as addresses); distance from here to the
// end of the types; 1; bytes of the landing pads; for each landing pad its number and 1 + the offset of its first clause (0: it has none);
// clauses: number of the type, distance to the next from where this distance stands; the types, the last first, null for `catch (...)`.
int _Unwind_CallPersonality(void* thrown) {
  Throw* const t = static_cast<Throw*>(thrown);
  const uint8_t* at = __wasm_lpad_context.table + 2;
  const uint32_t distance_to_types = read_uleb(at);
  const auto* const types_end = reinterpret_cast<const std::type_info* const*>(at + distance_to_types);
  ++at;
  const uint32_t pads_bytes = read_uleb(at);
  const uint8_t* const clauses = at + pads_bytes;
  uint32_t first = 0;
  for (uint32_t i = 0; i <= __wasm_lpad_context.index; ++i) {
    read_uleb(at);
    first = read_uleb(at);
  }
  __wasm_lpad_context.selector = 0;
  if (first == 0) return 0;
  for (const uint8_t* clause = clauses + (first - 1);;) {
    const int32_t number = read_sleb(clause);
    const uint8_t* const here = clause;
    const int32_t distance = read_sleb(clause);
    void* object = t->object();
    if (number > 0 && takes(types_end[-number], t->primary->type, object)) {
      t->adjusted = object;
      __wasm_lpad_context.selector = number;
      return 0;
    }
    if (distance == 0) return 0;
    clause = here + distance;
  }
}

void* __cxa_allocate_exception(size_t size) noexcept {
  void* memory = malloc(sizeof(Throw) + size);
  if (!memory) memory = reserve.take(sizeof(Throw) + size);
  if (!memory) std::terminate();
  memset(memory, 0, sizeof(Throw));
  return static_cast<Throw*>(memory) + 1;
}

void __cxa_free_exception(void* object) noexcept { free_throw(from_object(object)); }

// No reference yet: std::make_exception_ptr goes on from here.
__cxxabiv1::__cxa_exception* __cxa_init_primary_exception(void* object, std::type_info* type, Destructor destroy) noexcept {
  Throw* const t = from_object(object);
  t->primary = t;
  t->type = type;
  t->destroy = destroy;
  t->adjusted = object;
  return reinterpret_cast<__cxxabiv1::__cxa_exception*>(t);
}

[[noreturn]] void __cxa_throw(void* object, std::type_info* type, Destructor destroy) {
  __cxa_init_primary_exception(object, type, destroy);
  Throw* const t = from_object(object);
  t->references = 1;
  if (godwit_mark_throw) godwit_mark_throw(kThrown);
  send(t);
}

void* __cxa_begin_catch(void* thrown) noexcept {
  Throw* const t = static_cast<Throw*>(thrown);
  Throw** link = &state.in_flight;
  while (*link && *link != t) link = &(*link)->next_in_flight;
  if (*link) *link = t->next_in_flight;
  --state.uncaught;
  if (t->handlers == 0) {  // otherwise it was thrown again and is still in the list
    t->next_caught = state.caught;
    state.caught = t;
  }
  t->handlers = (t->handlers < 0 ? -t->handlers : t->handlers) + 1;
  return t->adjusted;
}

void __cxa_end_catch() {
  Throw* const t = state.caught;
  if (!t) return;
  const bool thrown_again = t->handlers < 0;
  t->handlers += thrown_again ? 1 : -1;
  if (t->handlers != 0) return;
  state.caught = t->next_caught;
  if (thrown_again) return;  // an outer clause will catch it
  Throw* const primary = t->primary;
  if (t != primary) free_throw(t);
  release(primary);
}

[[noreturn]] void __cxa_rethrow() {
  Throw* const t = state.caught;
  if (!t) std::terminate();
  t->handlers = -t->handlers;
  send(t);
}

void* __cxa_get_exception_ptr(void* thrown) noexcept { return static_cast<Throw*>(thrown)->adjusted; }

std::type_info* __cxa_current_exception_type() { return state.caught ? const_cast<std::type_info*>(state.caught->primary->type) : nullptr; }

unsigned __cxa_uncaught_exceptions() noexcept { return state.uncaught; }
bool __cxa_uncaught_exception() noexcept { return state.uncaught != 0; }

// libc++.a has std::exception_ptr on top of these four.
void __cxa_increment_exception_refcount(void* object) noexcept {
  if (object) ++from_object(object)->references;
}
void __cxa_decrement_exception_refcount(void* object) noexcept {
  if (object) release(from_object(object));
}
void* __cxa_current_primary_exception() noexcept {
  if (!state.caught) return nullptr;
  __cxa_increment_exception_refcount(state.caught->object());
  return state.caught->object();
}
void __cxa_rethrow_primary_exception(void* object) {  // returns if there is none; the caller terminates
  if (!object) return;
  auto* const t = from_object(__cxa_allocate_exception(0));
  t->primary = from_object(object);
  t->adjusted = object;
  ++t->primary->references;
  send(t);
}

// In libc++abi.a these end the program.
[[noreturn]] void __cxa_bad_cast() { throw std::bad_cast(); }
[[noreturn]] void __cxa_bad_typeid() { throw std::bad_typeid(); }
[[noreturn]] void __cxa_throw_bad_array_new_length() { throw std::bad_array_new_length(); }

// In place of cxa_default_handlers.cpp.o. std::terminate calls this one, which calls the program's. clang's terminate pads do not say which
// exception it was: the last one in flight. It counts as caught from here on, so that std::current_exception() finds it.
static std::terminate_handler program_terminate_handler = print_and_end;
static void handle_terminate() {
  if (state.in_flight) __cxa_begin_catch(state.in_flight);
  program_terminate_handler();
}
std::terminate_handler __cxa_terminate_handler = handle_terminate;
void (*__cxa_unexpected_handler)() = std::terminate;
std::new_handler __cxa_new_handler = nullptr;

// Called by _start (godwit_runtime.c). No exception leaves it: an uncaught one ends the program here, with a message.
int __original_main(void);
void __wasm_call_ctors(void);

void godwit_run_program() noexcept {
  __wasm_call_ctors();
  exit(__original_main());
}

// The same for the first function of a thread (threads.c).
void* godwit_call_thread(void* (*start)(void*), void* argument) noexcept { return start(argument); }

}  // extern "C"

namespace std {

terminate_handler set_terminate(terminate_handler handler) noexcept {
  return exchange(program_terminate_handler, handler ? handler : print_and_end);
}
new_handler set_new_handler(new_handler handler) noexcept { return exchange(__cxa_new_handler, handler); }

}  // namespace std
