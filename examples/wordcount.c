// Counts lines, words and bytes of standard input and lists the most frequent words.
//
//   godwit run examples/wordcount.c < book.txt
//   godwit run examples/wordcount.c -- 25 < book.txt     (length of the list)
//
// An ordinary C program without a single Godwit call: it can be suspended while it waits for input as well as while it counts.
#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxWord = 64 };  // longer words are counted by their first 64 letters

typedef struct Entry {
  char* word;  // NULL: free slot
  uint64_t count;
} Entry;

// Open addressing, linear probing, always less than half full.
typedef struct Table {
  Entry* entries;
  size_t capacity;  // power of two
  size_t used;
} Table;

static void* checked(void* memory) {
  if (memory != NULL) return memory;
  fprintf(stderr, "wordcount: out of memory\n");
  exit(1);
}

static uint32_t hash_word(const char* word) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (; *word != '\0'; word++) hash = (hash ^ (uint8_t)*word) * 16777619u;
  return hash;
}

static Entry* slot_of(const Table* table, const char* word) {
  size_t index = hash_word(word) & (table->capacity - 1);
  while (table->entries[index].word != NULL && strcmp(table->entries[index].word, word) != 0) index = (index + 1) & (table->capacity - 1);
  return &table->entries[index];
}

static Table make_table(size_t capacity) { return (Table){checked(calloc(capacity, sizeof(Entry))), capacity, 0}; }

static void grow(Table* table) {
  Table bigger = make_table(table->capacity * 2);
  for (size_t i = 0; i < table->capacity; i++) {
    if (table->entries[i].word != NULL) *slot_of(&bigger, table->entries[i].word) = table->entries[i];
  }
  bigger.used = table->used;
  free(table->entries);
  *table = bigger;
}

static void count_word(Table* table, const char* word, size_t length) {
  Entry* entry = slot_of(table, word);
  if (entry->word == NULL) {
    entry->word = memcpy(checked(malloc(length + 1)), word, length + 1);
    table->used++;
  }
  entry->count++;
  if (table->used * 2 >= table->capacity) grow(table);
}

static int more_frequent(const void* left, const void* right) {
  const Entry* a = left;
  const Entry* b = right;
  if (a->count != b->count) return a->count < b->count ? 1 : -1;
  return strcmp(a->word, b->word);
}

// Moves the used entries to the front, most frequent first.
static void rank(Table* table) {
  size_t next = 0;
  for (size_t i = 0; i < table->capacity; i++) {
    if (table->entries[i].word != NULL) table->entries[next++] = table->entries[i];
  }
  qsort(table->entries, next, sizeof(Entry), more_frequent);
}

int main(int argc, char** argv) {
  const size_t listed = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
  Table table = make_table(1024);
  uint64_t lines = 0, words = 0, bytes = 0;
  char word[kMaxWord + 1];
  size_t length = 0;
  for (int c = getchar();; c = getchar()) {
    if (c != EOF && (isalnum(c) || c == '\'')) {
      if (length < kMaxWord) word[length++] = (char)tolower(c);
    } else if (length > 0) {
      word[length] = '\0';
      count_word(&table, word, length);
      words++;
      length = 0;
    }
    if (c == EOF) break;
    bytes++;
    lines += c == '\n';
  }
  rank(&table);
  printf("%" PRIu64 " lines, %" PRIu64 " words, %" PRIu64 " bytes, %zu different words\n", lines, words, bytes, table.used);
  for (size_t i = 0; i < table.used && i < listed; i++) printf("%10" PRIu64 "  %s\n", table.entries[i].count, table.entries[i].word);
  return 0;
}
