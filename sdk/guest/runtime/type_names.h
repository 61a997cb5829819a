#pragma once
// Names of C++ types in source form, without the demangler of libc++abi, which would add 100 KB to every program.

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GODWIT_MAX_TYPE_NAME = 256 };

// Writes the name of a type, "std::runtime_error" for "St13runtime_error", to `name` and returns its length; no NUL follows. Classes in
// namespaces, which most thrown types are, and the common built-in types are known; any other name stays mangled.
size_t godwit_type_name(const char* mangled, char name[GODWIT_MAX_TYPE_NAME]);

#ifdef __cplusplus
}
#endif
