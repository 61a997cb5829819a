// "write": fills its memory with a pattern and waits for input. "search": looks for that pattern in all it can read, which is its memory
// and the unwind stack behind it, and then reads on behind that. "both": writes it, and then searches in the same memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 16 };
static const char kHidden[kBytes + 1] = "this is a secret";
static volatile char key = 0x55;  // the pattern is kHidden combined with it, and stands nowhere in the searcher's own memory

static int is_pattern(const char* at) {
  for (int i = 0; i < kBytes; i++)
    if ((char)(at[i] ^ key) != kHidden[i]) return 0;
  return 1;
}

static const char* write_pattern(void) {
  volatile char* memory = malloc(1 << 20);
  for (int i = 0; i < 1 << 20; i++) memory[i] = kHidden[i % kBytes] ^ key;
  return (const char*)memory;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "search";
  if (strcmp(what, "both") == 0) write_pattern();
  if (strcmp(what, "write") == 0) {
    const char* memory = write_pattern();
    puts("written");
    fflush(stdout);
    getchar();
    return !is_pattern(memory);
  }
  int found = 0;
  enum { kUnwindBytes = 64 << 20 };
  char* end = (char*)(__builtin_wasm_memory_size(0) * 65536ul + kUnwindBytes);
  for (char* at = (char*)1024; at + kBytes < end; at++) found += is_pattern(at);
  puts(found == 0 ? "nothing found" : "found");
  fflush(stdout);
  volatile char* beyond = end;
  return *beyond;
}
