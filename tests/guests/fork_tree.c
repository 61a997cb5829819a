// Forks as many children as its argument says, all alive together; exits with 1 if one could not be made.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((import_module("godwit"), import_name("fork"))) int32_t fork_thread(uint64_t* child);

int main(int argc, char** argv) {
  int wanted = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < wanted; i++) {
    uint64_t child = 0;
    if (fork_thread(&child) != 0) return 1;
    if (child == 0) {
      printf("child %d\n", i);
      if (wanted > 100) getchar();
      return 0;
    }
  }
  puts("parent");
  return 0;
}
