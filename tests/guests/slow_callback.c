// qsort with a comparison that takes its time: library code on the stack, most of the time spent below it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 100000 };

static volatile uint32_t sink;

static int compare(const void* left, const void* right) {
  const uint32_t a = *(const uint32_t*)left, b = *(const uint32_t*)right;
  for (uint32_t i = 0; i < 1000000; i++) sink = sink * 31 + i;
  return a < b ? -1 : a > b;
}

int main(void) {
  static uint32_t numbers[kCount];
  for (uint32_t i = 0; i < kCount; i++) numbers[i] = i * 2654435761u;
  qsort(numbers, kCount, sizeof numbers[0], compare);
  printf("%u\n", numbers[0]);
  return 0;
}
