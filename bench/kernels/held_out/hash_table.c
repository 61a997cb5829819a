// Counting strings in an open-addressing hash table: byte loops, string comparison, random access.
#include <string.h>

#include "../kernel.h"

enum { kSlots = 1 << 16, kWordLimit = 16 };

typedef struct Slot {
  char word[kWordLimit];
  uint32_t count;  // 0: free
} Slot;

static Slot table[kSlots];

static uint32_t hash_word(const char* word) {
  uint32_t hash = 5381;
  for (; *word != '\0'; word++) hash = hash * 33 ^ (uint8_t)*word;
  return hash ^ hash >> 15;
}

static uint32_t count_word(const char* word) {
  uint32_t index = hash_word(word) % kSlots;
  while (table[index].count != 0 && strcmp(table[index].word, word) != 0) index = (index + 1) % kSlots;
  if (table[index].count == 0) strcpy(table[index].word, word);
  return ++table[index].count;
}

// A word of 3 to 12 letters; low numbers give the frequent words.
static void spell(char* word, uint32_t number) {
  uint32_t length = 3 + number % 10;
  for (uint32_t i = 0; i < length; i++) {
    word[i] = (char)('a' + number % 26);
    number = number * 1103515245u + 12345u;
    number ^= number >> 13;
  }
  word[length] = '\0';
}

int main(int argc, char** argv) {
  const uint32_t words = kernel_size(argc, argv, 7000000);
  KernelRandom random = {31};
  uint64_t sum = 0;
  char word[kWordLimit];
  for (uint32_t i = 0; i < words; i++) {
    const uint32_t rank = kernel_random_below(&random, 200) * kernel_random_below(&random, 200);
    spell(word, rank);
    sum = sum * 7 + count_word(word);
  }
  printf("hash_table %016llx\n", (unsigned long long)sum);
  return 0;
}
