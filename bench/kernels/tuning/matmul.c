// Product of dense matrices, row by row: a vector loop that streams through memory.
#include "../kernel.h"

static void multiply_add(uint32_t n, const double* restrict a, const double* restrict b, double* restrict sum) {
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < n; k++) {
      const double factor = a[i * n + k];
      for (uint32_t j = 0; j < n; j++) sum[i * n + j] += factor * b[k * n + j];
    }
  }
}

int main(int argc, char** argv) {
  const uint32_t products = kernel_size(argc, argv, 12), n = 512;
  double* a = kernel_memory(n * n * sizeof *a);
  double* b = kernel_memory(n * n * sizeof *b);
  double* sum = kernel_memory(n * n * sizeof *sum);
  for (uint32_t i = 0; i < n * n; i++) {
    a[i] = i % 97 * 0.25;
    b[i] = i % 89 * 0.5;
  }
  for (uint32_t i = 0; i < products; i++) multiply_add(n, a, b, sum);
  double check = 0;
  for (uint32_t i = 0; i < n * n; i++) check += sum[i] * (i % 7);
  printf("matmul %.3f\n", check);
  return 0;
}
