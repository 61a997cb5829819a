// One task of a sweep over files: reads a file or its standard input, writes a file, says what it did.
//
//   sweep_work count IN OUT     writes the size of IN, a sum over its bytes and its bytes backwards to OUT; fails if IN begins with "bad"
//   sweep_work stdin OUT        the same with standard input
//   sweep_work slow IN OUT      the same after some work
//   sweep_work large OUT MIB    writes so many MiB
//   sweep_work scratch          says how many names are in the folder, and leaves another one there
//   sweep_work echo WORD...     prints the words

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char bytes[1 << 20];

static uint32_t sum_of(size_t size) {
  uint32_t sum = 2166136261u;
  for (size_t i = 0; i < size; ++i) sum = (sum ^ bytes[i]) * 16777619u;
  return sum;
}

static int count(FILE* in, const char* name, const char* out_name) {
  size_t size = fread(bytes, 1, sizeof bytes, in);
  printf("%s has %zu bytes\n", name, size);
  if (size >= 3 && memcmp(bytes, "bad", 3) == 0) {
    fprintf(stderr, "%s is bad\n", name);
    return 3;
  }
  FILE* out = fopen(out_name, "wb");
  if (out == NULL) return perror(out_name), 1;
  fprintf(out, "%zu %08x\n", size, sum_of(size));
  for (size_t i = size; i > 0; --i) putc(bytes[i - 1], out);
  return fclose(out) == 0 ? 0 : 1;
}

static int count_file(const char* name, const char* out_name) {
  FILE* in = fopen(name, "rb");
  if (in == NULL) return perror(name), 1;
  int code = count(in, name, out_name);
  fclose(in);
  return code;
}

static void work(void) {
  volatile uint32_t value = 1;
  for (uint32_t i = 0; i < 20000000u; ++i) value = value * 1664525u + i;
}

static int large(const char* name, int mib) {
  FILE* out = fopen(name, "wb");
  if (out == NULL) return perror(name), 1;
  for (int i = 0; i < mib; ++i) {
    for (size_t at = 0; at < sizeof bytes; ++at) bytes[at] = (unsigned char)(at * 31 + (size_t)i);
    fwrite(bytes, 1, sizeof bytes, out);
  }
  return fclose(out) == 0 ? 0 : 1;
}

static int scratch(void) {
  int names = 0;
  DIR* folder = opendir(".");
  if (folder == NULL) return perror("."), 1;
  while (readdir(folder) != NULL) ++names;
  closedir(folder);
  printf("%d names\n", names);
  FILE* left = fopen("left behind", "w");
  return left != NULL && fclose(left) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "count") == 0 && argc == 4) return count_file(argv[2], argv[3]);
  if (strcmp(what, "slow") == 0 && argc == 4) return work(), count_file(argv[2], argv[3]);
  if (strcmp(what, "stdin") == 0 && argc == 3) return count(stdin, "standard input", argv[2]);
  if (strcmp(what, "large") == 0 && argc == 4) return large(argv[2], atoi(argv[3]));
  if (strcmp(what, "scratch") == 0) return scratch();
  for (int i = 2; i < argc; ++i) printf("%s%s", i > 2 ? " " : "", argv[i]);
  putchar('\n');
  return 0;
}
