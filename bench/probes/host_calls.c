// host_calls N: makes N host calls that do next to nothing.
#include <wasi/api.h>

#include "../kernels/kernel.h"

int main(int argc, char** argv) {
  const uint32_t calls = kernel_size(argc, argv, 1000000);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < calls; i++) {
    __wasi_size_t count, bytes;
    if (__wasi_args_sizes_get(&count, &bytes) != 0) return 1;
    sum += count;
  }
  printf("host_calls %llu\n", (unsigned long long)sum);
  return 0;
}
