// fork_search MIB CHILDREN: fills so much memory, then forks. Each child reads all of it and stops at a checkpoint; so does the parent in
// the end.
#include <godwit/godwit.h>

#include "../kernels/kernel.h"

static uint64_t sum(const uint64_t* words, size_t count) {
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++) total += words[i];
  return total;
}

int main(int argc, char** argv) {
  const size_t bytes = (size_t)kernel_size(argc, argv, 64) << 20;
  const int children = argc > 2 ? atoi(argv[2]) : 8;
  uint64_t* words = kernel_memory(bytes);
  KernelRandom random = {1};
  for (size_t i = 0; i < bytes / sizeof *words; i++) words[i] = kernel_random(&random);
  const uint64_t expected = sum(words, bytes / sizeof *words);
  for (int i = 0; i < children; i++) {
    uint64_t child = 0;
    if (godwit_fork(&child) != 0) return 1;
    if (child == 0) break;
  }
  if (sum(words, bytes / sizeof *words) != expected) return 1;
  godwit_checkpoint();
  return 0;
}
