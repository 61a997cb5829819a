// Escape counts of the Mandelbrot set: one deep nest of double arithmetic, no memory traffic, no calls.
#include "../kernel.h"

static uint32_t escape_count(double c_re, double c_im) {
  enum { kLimit = 600 };
  double re = 0, im = 0;
  for (uint32_t i = 0; i < kLimit; i++) {
    const double re2 = re * re, im2 = im * im;
    if (re2 + im2 > 4) return i;
    im = 2 * re * im + c_im;
    re = re2 - im2 + c_re;
  }
  return kLimit;
}

int main(int argc, char** argv) {
  const uint32_t side = kernel_size(argc, argv, 900);
  uint64_t sum = 0;
  for (uint32_t y = 0; y < side; y++) {
    for (uint32_t x = 0; x < side; x++) sum = sum * 31 + escape_count(3.0 * x / side - 2, 2.0 * y / side - 1);
  }
  printf("mandel %016llx\n", (unsigned long long)sum);
  return 0;
}
