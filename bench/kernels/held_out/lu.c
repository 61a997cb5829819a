// LU factorisation with partial pivoting of a dense matrix, then one solution: triangular loop nests over doubles.
#include <math.h>

#include "../kernel.h"

static void swap_rows(double* a, double* b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const double kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

static void factorise(double* matrix, double* right, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    uint32_t pivot = k;
    for (uint32_t i = k + 1; i < n; i++) {
      if (fabs(matrix[i * n + k]) > fabs(matrix[pivot * n + k])) pivot = i;
    }
    swap_rows(&matrix[k * n], &matrix[pivot * n], n);
    swap_rows(&right[k], &right[pivot], 1);
    for (uint32_t i = k + 1; i < n; i++) {
      const double factor = matrix[i * n + k] / matrix[k * n + k];
      matrix[i * n + k] = factor;
      for (uint32_t j = k + 1; j < n; j++) matrix[i * n + j] -= factor * matrix[k * n + j];
      right[i] -= factor * right[k];
    }
  }
}

static void back_substitute(const double* matrix, double* right, uint32_t n) {
  for (uint32_t i = n; i-- > 0;) {
    for (uint32_t j = i + 1; j < n; j++) right[i] -= matrix[i * n + j] * right[j];
    right[i] /= matrix[i * n + i];
  }
}

int main(int argc, char** argv) {
  const uint32_t n = kernel_size(argc, argv, 1400);
  KernelRandom random = {11};
  double* matrix = kernel_memory((size_t)n * n * sizeof *matrix);
  double* right = kernel_memory(n * sizeof *right);
  for (uint32_t i = 0; i < n * n; i++) matrix[i] = kernel_random_below(&random, 2001) / 1000.0 - 1;
  for (uint32_t i = 0; i < n; i++) right[i] = i % 10;
  factorise(matrix, right, n);
  back_substitute(matrix, right, n);
  double sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += right[i] * (i % 5 + 1);
  printf("lu %.9e\n", sum);
  return 0;
}
