// Quicksort of records through a comparison function, as qsort does it: an indirect call per comparison.
#include <string.h>

#include "../kernel.h"

typedef struct Record {
  uint32_t key;
  uint32_t serial;
  char label[8];
} Record;

typedef int Compare(const Record* a, const Record* b);

static int by_key(const Record* a, const Record* b) {
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->serial < b->serial ? -1 : a->serial > b->serial;
}

static int by_label(const Record* a, const Record* b) {
  const int order = memcmp(a->label, b->label, sizeof a->label);
  return order != 0 ? order : by_key(a, b);
}

static void swap(Record* a, Record* b) {
  const Record kept = *a;
  *a = *b;
  *b = kept;
}

static void insertion_sort(Record* records, size_t count, Compare* compare) {
  for (size_t i = 1; i < count; i++) {
    for (size_t k = i; k > 0 && compare(&records[k - 1], &records[k]) > 0; k--) swap(&records[k - 1], &records[k]);
  }
}

static void quicksort(Record* records, size_t count, Compare* compare) {
  while (count > 12) {
    const Record pivot = records[count / 2];
    size_t low = 0, high = count - 1;
    for (;;) {
      while (compare(&records[low], &pivot) < 0) low++;
      while (compare(&records[high], &pivot) > 0) high--;
      if (low >= high) break;
      swap(&records[low++], &records[high--]);
    }
    quicksort(records, low, compare);
    records += low;
    count -= low;
  }
  insertion_sort(records, count, compare);
}

int main(int argc, char** argv) {
  const uint32_t rounds = kernel_size(argc, argv, 20), count = 150000;
  static Compare* const kOrders[2] = {by_key, by_label};
  KernelRandom random = {41};
  Record* records = kernel_memory(count * sizeof *records);
  uint64_t sum = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    for (uint32_t i = 0; i < count; i++) {
      records[i].key = kernel_random_below(&random, 100000);
      records[i].serial = i;
      for (size_t k = 0; k < sizeof records[i].label; k++) records[i].label[k] = (char)('a' + kernel_random_below(&random, 4));
    }
    quicksort(records, count, kOrders[round % 2]);
    for (uint32_t i = 0; i < count; i++) sum = sum * 31 + records[i].serial;
  }
  printf("sort_callback %016llx\n", (unsigned long long)sum);
  return 0;
}
