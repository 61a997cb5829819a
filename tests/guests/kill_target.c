// Some seconds of work that leave traces everywhere: standard output, a file that grows, one that is overwritten in the middle, files that
// are renamed and removed, all of them depending on everything before. Reads its input file and the clock on the way.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t state = 88172645463325252ull;

static uint64_t work(unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

static void mix_input(FILE* input) {
  if (fseek(input, (long)(state % 100000), SEEK_SET) != 0) exit(3);
  for (int i = 0; i < 64; ++i) state = state * 31 + (uint64_t)fgetc(input);
}

static void overwrite(FILE* table) {
  fseek(table, (long)(state % 4096) * 8, SEEK_SET);
  fwrite(&state, sizeof state, 1, table);
}

static void rotate(int step) {
  char name[64];
  snprintf(name, sizeof name, "out/part-%d", step % 7);
  FILE* part = fopen("out/part.new", "w");
  fprintf(part, "%d %llx\n", step, (unsigned long long)state);
  fclose(part);
  if (rename("out/part.new", name) != 0) exit(4);
  if (step % 11 == 0) unlink("out/part-3");
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  mkdir("out", 0777);
  FILE* input = fopen("input", "rb");
  FILE* log = fopen("out/log", "w");
  FILE* table = fopen("out/table", "w+");
  if (!input || !log || !table) return 2;
  for (int step = 0; step < steps; ++step) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    work(6000000);
    mix_input(input);
    overwrite(table);
    rotate(step);
    fprintf(log, "step %d\n", step);
    printf("%d %016llx\n", step, (unsigned long long)state);
    if (step % 3 == 0) fflush(stdout);
  }
  return fclose(log) || fclose(table) ? 5 : 0;
}
