// Sets 256 MiB again and again, each time with one call.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  const size_t bytes = 256u << 20;
  unsigned char* memory = malloc(bytes);
  if (memory == NULL) return 1;
  for (int value = 0;; value++) {
    memset(memory, value & 255, bytes);
    if (memory[bytes / 2] != (value & 255)) break;
  }
  printf("memory does not hold what was stored\n");
  return 1;
}
