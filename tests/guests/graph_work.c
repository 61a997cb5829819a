// One task of a graph: reads files that tasks before it have left, and leaves files for those behind it.
//
//   graph_work split FOLDER N     makes N files in FOLDER
//   graph_work join OUT IN...     writes the name, size and a sum of each IN to OUT, after some work
//   graph_work large OUT MIB      writes so many MiB that follow from its standard input to OUT
//   graph_work fail               exits with code 3

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static unsigned char bytes[1 << 20];

static void work(void) {
  volatile uint32_t value = 1;
  for (uint32_t i = 0; i < 100000000u; ++i) value = value * 1664525u + i;
}

static uint32_t sum_of(FILE* in, size_t* size) {
  uint32_t sum = 2166136261u;
  for (size_t count; (count = fread(bytes, 1, sizeof bytes, in)) > 0; *size += count)
    for (size_t i = 0; i < count; ++i) sum = (sum ^ bytes[i]) * 16777619u;
  return sum;
}

static int split(const char* folder, int files) {
  mkdir(folder, 0777);
  for (int i = 0; i < files; ++i) {
    char name[256];
    snprintf(name, sizeof name, "%s/part-%d", folder, i);
    FILE* out = fopen(name, "w");
    if (out == NULL) return perror(name), 1;
    for (int line = 0; line <= i; ++line) fprintf(out, "line %d of part %d\n", line, i);
    if (fclose(out) != 0) return 1;
  }
  return 0;
}

static int join(const char* out_name, char** inputs, int count) {
  FILE* out = fopen(out_name, "w");
  if (out == NULL) return perror(out_name), 1;
  work();
  for (int i = 0; i < count; ++i) {
    FILE* in = fopen(inputs[i], "rb");
    if (in == NULL) return perror(inputs[i]), 1;
    size_t size = 0;
    uint32_t sum = sum_of(in, &size);
    fclose(in);
    fprintf(out, "%s %zu %08x\n", inputs[i], size, sum);
  }
  printf("joined %d files\n", count);
  return fclose(out) == 0 ? 0 : 1;
}

static int large(const char* name, int mib) {
  size_t size = 0;
  uint32_t value = sum_of(stdin, &size);
  FILE* out = fopen(name, "wb");
  if (out == NULL) return perror(name), 1;
  for (int i = 0; i < mib; ++i) {
    for (size_t at = 0; at < sizeof bytes; ++at) bytes[at] = (unsigned char)((value = value * 1664525u + 1013904223u) >> 24);
    fwrite(bytes, 1, sizeof bytes, out);
  }
  return fclose(out) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "split") == 0 && argc == 4) return split(argv[2], atoi(argv[3]));
  if (strcmp(what, "join") == 0 && argc >= 3) return join(argv[2], argv + 3, argc - 3);
  if (strcmp(what, "large") == 0 && argc == 4) return large(argv[2], atoi(argv[3]));
  return 3;
}
