// memcmp over every length, distance and place of a difference around its steps of eight bytes: the sign of each, folded into one number.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kLongest = 34 };

static int sign(int order) { return (order > 0) - (order < 0); }

int main(int argc, char** argv) {
  (void)argv;
  // The bytes depend on the arguments, or the compiler would compare them itself.
  static unsigned char left[64], right[64];
  uint64_t sum = 0;
  for (size_t size = 0; size <= kLongest; size++) {
    for (size_t shift = 0; shift < 9; shift++) {
      for (size_t at = 0; at <= size; at++) {
        for (int value = 0; value < 256; value += 51) {
          memset(left, argc * 128, sizeof left);
          memset(right, argc * 128, sizeof right);
          if (at < size) right[shift + at] = (unsigned char)value;
          if (at + 1 < size) right[shift + at + 1] = (unsigned char)~value;  // only the first difference counts
          left[size] = 1;                                                    // behind the end: does not count
          const int order = memcmp(left, right + shift, size);
          sum = sum * 31 + (uint64_t)(sign(order) + 1);
          if (order == 0) sum += size;
        }
      }
    }
  }
  printf("compare_bytes %016llx\n", (unsigned long long)sum);
  return 0;
}
