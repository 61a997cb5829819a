#include "type_names.h"

#include <string.h>

struct Text {
  char* bytes;
  size_t size;
};

static void append(struct Text* text, const char* bytes, size_t size) {
  if (size > GODWIT_MAX_TYPE_NAME - text->size) size = GODWIT_MAX_TYPE_NAME - text->size;
  memcpy(text->bytes + text->size, bytes, size);
  text->size += size;
}

static void append_string(struct Text* text, const char* string) { append(text, string, strlen(string)); }

// Reads "<length><identifier>"; returns what follows, or NULL.
static const char* append_identifier(struct Text* text, const char* mangled) {
  size_t length = 0;
  while (*mangled >= '0' && *mangled <= '9') length = length * 10 + (size_t)(*mangled++ - '0');
  if (length == 0 || strlen(mangled) < length) return NULL;
  if (strncmp(mangled, "_GLOBAL__N_", 11) == 0) {
    append_string(text, "(anonymous namespace)");
  } else if (length != 3 || strncmp(mangled, "__2", 3) != 0) {  // libc++'s inline namespace
    append(text, mangled, length);
  }
  return mangled + length;
}

// "St13runtime_error", "N4shop8NotFoundE", "NSt3__28ios_base7failureE". Returns what follows, or NULL.
static const char* append_class_name(struct Text* text, const char* mangled) {
  const int nested = *mangled == 'N';
  mangled += nested;
  if (strncmp(mangled, "St", 2) == 0) {
    append_string(text, "std::");
    mangled += 2;
  }
  mangled = append_identifier(text, mangled);
  while (nested && mangled != NULL && *mangled != 'E' && *mangled != '\0') {
    if (text->size < 2 || memcmp(text->bytes + text->size - 2, "::", 2) != 0) append_string(text, "::");
    mangled = append_identifier(text, mangled);
  }
  return mangled == NULL || (nested && *mangled != 'E') ? NULL : mangled + nested;
}

static const char* builtin_name(const char* mangled) {
  static const char* const kNames[][2] = {
      {"i", "int"},           {"j", "unsigned int"}, {"l", "long"},
      {"m", "unsigned long"}, {"x", "long long"},    {"y", "unsigned long long"},
      {"b", "bool"},          {"c", "char"},         {"h", "unsigned char"},
      {"s", "short"},         {"f", "float"},        {"d", "double"},
      {"PKc", "char const*"}, {"Pc", "char*"},       {"NSt3__212basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEE", "std::string"}};
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    if (strcmp(mangled, kNames[i][0]) == 0) return kNames[i][1];
  }
  return NULL;
}

size_t godwit_type_name(const char* mangled, char name[GODWIT_MAX_TYPE_NAME]) {
  struct Text text = {name, 0};
  const char* const builtin = builtin_name(mangled);
  if (builtin != NULL) {
    append_string(&text, builtin);
    return text.size;
  }
  const char* const rest = append_class_name(&text, mangled);
  if (rest != NULL && *rest == '\0') return text.size;
  text.size = 0;
  append_string(&text, mangled);
  return text.size;
}
