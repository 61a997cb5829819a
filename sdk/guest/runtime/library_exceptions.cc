// Makes libc++.a and libc++abi.a throw. Debian built both without exceptions: where they would throw, they call one of two functions that
// print a text and end the program, and the text begins with the name of the exception. Here these functions throw it.
//
// The frames of the library are left without their destructors being run: temporary strings leak. One function that would also leave
// something wrong behind is replaced at the end of this file, another one in once.cc.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exception>
#include <ios>
#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

extern "C" {
void* __cxa_allocate_exception(size_t size) noexcept;
[[noreturn]] void __cxa_throw(void* object, std::type_info* type, void* (*destroy)(void*));

// Weak, so that a program without streams links none of them for this.
__attribute__((weak)) extern std::type_info _ZTINSt3__28ios_base7failureE;
__attribute__((weak)) void* _ZNSt3__28ios_base7failureC1EPKcRKNS_10error_codeE(void*, const char*, const std::error_code&);
__attribute__((weak)) void* _ZNSt3__28ios_base7failureD1Ev(void*);
__attribute__((weak)) const std::error_category* _ZNSt3__217iostream_categoryEv();
__attribute__((weak)) extern std::type_info _ZTINSt3__212system_errorE;
__attribute__((weak)) void* _ZNSt3__212system_errorC1ENS_10error_codeEPKc(void*, std::error_code, const char*);
__attribute__((weak)) void* _ZNSt3__212system_errorD1Ev(void*);
__attribute__((weak)) const std::error_category* _ZNSt3__216generic_categoryEv();
}

namespace {

constexpr int kAbortExitCode = 134;  // 128 + SIGABRT

[[noreturn]] void throw_ios_failure(const char* text) {
  void* const object = __cxa_allocate_exception(sizeof(std::ios_base::failure));
  const std::error_code code(static_cast<int>(std::io_errc::stream), *_ZNSt3__217iostream_categoryEv());
  _ZNSt3__28ios_base7failureC1EPKcRKNS_10error_codeE(object, text, code);
  __cxa_throw(object, &_ZTINSt3__28ios_base7failureE, _ZNSt3__28ios_base7failureD1Ev);
}

[[noreturn]] void throw_system_error(int code, const char* text) {
  void* const object = __cxa_allocate_exception(sizeof(std::system_error));
  _ZNSt3__212system_errorC1ENS_10error_codeEPKc(object, std::error_code(code, *_ZNSt3__216generic_categoryEv()), text);
  __cxa_throw(object, &_ZTINSt3__212system_errorE, _ZNSt3__212system_errorD1Ev);
}

// Returns if the text names no exception: the library has found a mistake of the program that no clause can catch.
void throw_named(const char* format, va_list arguments) {
  static const char kThrown[] = " was thrown in -fno-exceptions mode";
  const char* const end = strstr(format, kThrown);
  if (!end) return;
  const size_t size = static_cast<size_t>(end - format);
  const auto is = [&](const char* name) { return strlen(name) == size && memcmp(format, name, size) == 0; };
  if (is("bad_alloc")) throw std::bad_alloc();
  if (is("bad_array_new_length")) throw std::bad_array_new_length();
  if (is("bad_cast")) throw std::bad_cast();
  if (is("system_error") && &_ZTINSt3__212system_errorE) {
    const int code = va_arg(arguments, int);
    throw_system_error(code, va_arg(arguments, const char*));
  }
  const char* const text = strstr(end, "%s") ? va_arg(arguments, const char*) : "";
  if (is("length_error")) throw std::length_error(text);
  if (is("out_of_range")) throw std::out_of_range(text);
  if (is("invalid_argument")) throw std::invalid_argument(text);
  if (is("overflow_error")) throw std::overflow_error(text);
  if (is("runtime_error")) throw std::runtime_error(text);
  if (is("ios_base::failure") && &_ZTINSt3__28ios_base7failureE) throw_ios_failure(text);
}

[[noreturn]] void throw_or_end(const char* format, va_list arguments) {
  throw_named(format, arguments);
  fputs("godwit: the C++ library ends the program: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  _Exit(kAbortExitCode);
}

}  // namespace

extern "C" [[noreturn]] void abort_message(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  throw_or_end(format, arguments);
}

// std::__libcpp_verbose_abort, by the name the linker knows: in some versions its declaration says noexcept.
extern "C" [[noreturn]] void godwit_verbose_abort(const char* format, ...) __asm__("_ZNSt3__222__libcpp_verbose_abortEPKcz");
extern "C" [[noreturn]] void godwit_verbose_abort(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  throw_or_end(format, arguments);
}

// std::ios_base::__set_badbit_and_consider_rethrow. That of libc++.a never throws again; it is in one object file with other functions, so
// the linker is told to wrap it (compiler.cc).
extern "C" void godwit_set_badbit(std::ios_base* stream) __asm__("__wrap__ZNSt3__28ios_base33__set_badbit_and_consider_rethrowEv");
extern "C" __attribute__((weak)) void godwit_real_set_badbit(std::ios_base* stream) __asm__(
    "__real__ZNSt3__28ios_base33__set_badbit_and_consider_rethrowEv");
extern "C" void godwit_set_badbit(std::ios_base* stream) {
  godwit_real_set_badbit(stream);
  if (stream->exceptions() & std::ios_base::badbit) throw;
}
