// Local alignment of two random sequences with affine gaps: a two-dimensional recurrence of maxima over integers.
#include "../kernel.h"

enum { kLength = 2000, kMatch = 5, kMismatch = -4, kGapOpen = -7, kGapExtend = -1, kNever = -1000000 };

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

// Best score of any pair of substrings (Gotoh's recurrence, two rows of memory).
static int32_t align(const uint8_t* first, const uint8_t* second) {
  static int32_t best_above[kLength + 1], gap_above[kLength + 1];
  for (int j = 0; j <= kLength; j++) {
    best_above[j] = 0;
    gap_above[j] = kNever;
  }
  int32_t best = 0;
  for (int i = 1; i <= kLength; i++) {
    int32_t diagonal = 0, left = 0, gap_left = kNever;
    for (int j = 1; j <= kLength; j++) {
      gap_above[j] = larger(gap_above[j] + kGapExtend, best_above[j] + kGapOpen);
      gap_left = larger(gap_left + kGapExtend, left + kGapOpen);
      const int32_t paired = diagonal + (first[i - 1] == second[j - 1] ? kMatch : kMismatch);
      const int32_t score = larger(larger(paired, 0), larger(gap_above[j], gap_left));
      diagonal = best_above[j];
      best_above[j] = left = score;
      best = larger(best, score);
    }
  }
  return best;
}

int main(int argc, char** argv) {
  const uint32_t pairs = kernel_size(argc, argv, 20);
  KernelRandom random = {61};
  static uint8_t first[kLength], second[kLength];
  uint64_t sum = 0;
  for (uint32_t pair = 0; pair < pairs; pair++) {
    for (int i = 0; i < kLength; i++) {
      first[i] = (uint8_t)kernel_random_below(&random, 4);
      second[i] = kernel_random_below(&random, 3) == 0 ? (uint8_t)kernel_random_below(&random, 4) : first[i];
    }
    sum = sum * 31 + (uint64_t)align(first, second);
  }
  printf("smith_waterman %016llx\n", (unsigned long long)sum);
  return 0;
}
