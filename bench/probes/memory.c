// memory MIB: fills so much memory with data that does not repeat, then changes a hundredth of it for each byte of standard input.
#include "../kernels/kernel.h"

enum { kPage = 65536, kPart = 100 };

int main(int argc, char** argv) {
  const size_t bytes = (size_t)kernel_size(argc, argv, 16) << 20;
  uint64_t* words = kernel_memory(bytes);
  KernelRandom random = {1};
  for (size_t i = 0; i < bytes / sizeof *words; i++) words[i] = kernel_random(&random);
  uint32_t round = 0;
  while (getchar() != EOF) {
    const size_t pages = bytes / kPage;
    for (size_t page = round++ % kPart; page < pages; page += kPart) words[page * kPage / sizeof *words]++;
  }
  printf("memory %u\n", round);
  return 0;
}
