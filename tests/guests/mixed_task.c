// One task of an array. Its number says what it does: compute (0 and 3 of 4), read clocks (1), fork (2). Arguments: steps of a line, lines,
// milliseconds of sleep after a line.
//
// Built natively, it prints what every run must print: a forked thread is then a process whose lines go to stderr. Clock readings cannot be
// known in advance, so each line of a clock reader carries a digest of all it has read and printed, which shows a value that changed
// afterwards.
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum Kind { COMPUTE, READ_CLOCKS, FORK };

#ifdef __wasm__
#include <godwit/godwit.h>

static int fork_thread(void) {
  uint64_t child = 0;
  if (godwit_fork(&child) != 0) exit(9);
  return child == 0;
}
#else
#include <sys/wait.h>
#include <unistd.h>

static int fork_thread(void) {
  const pid_t child = fork();
  if (child < 0) exit(9);
  if (child > 0) return waitpid(child, 0, 0) != child;
  dup2(2, 1);
  return 1;
}
#endif

static uint64_t state;
static char name[64];

static void work(long steps) {
  for (long i = 0; i < steps; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
}

static void mix(uint64_t value) { state = (state ^ value) * 0x100000001b3u; }

static uint64_t read_clock(clockid_t which) {
  struct timespec now;
  clock_gettime(which, &now);
  const uint64_t value = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  mix(value);
  return value;
}

static void rest(long milliseconds) {
  const struct timespec wanted = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&wanted, 0);
}

// The child goes on with the lines of its parent, under a name of its own.
static void fork_at(long line, long lines) {
  const int number = line == lines / 3 ? 1 : line == lines * 2 / 3 ? 2 : 0;
  if (number == 0 || !fork_thread()) return;
  const size_t size = strlen(name);
  snprintf(name + size, sizeof name - size, ".%d", number);
  mix((uint64_t)number);
}

static void print_line(long line, enum Kind kind, long steps) {
  if (kind == READ_CLOCKS) {
    const uint64_t real = read_clock(CLOCK_REALTIME);
    const uint64_t monotonic = read_clock(CLOCK_MONOTONIC);
    const uint64_t digest = state;
    work(steps);
    state = digest;
    printf("task %s line %ld: %016llx real %llu monotonic %llu\n", name, line, (unsigned long long)state, (unsigned long long)real,
           (unsigned long long)monotonic);
  } else {
    work(steps);
    printf("task %s line %ld: %016llx\n", name, line, (unsigned long long)state);
  }
  fflush(stdout);
}

int main(int argc, char** argv) {
  const long task = atol(getenv("GODWIT_TASK"));
  const long steps = argc > 1 ? atol(argv[1]) : 1000000;
  const long lines = argc > 2 ? atol(argv[2]) : 9;
  const long milliseconds = argc > 3 ? atol(argv[3]) : 0;
  const enum Kind kind = task % 4 == 1 ? READ_CLOCKS : task % 4 == 2 ? FORK : COMPUTE;
  state = 0x9e3779b97f4a7c15u + (uint64_t)task;
  snprintf(name, sizeof name, "%ld", task);
  for (long line = 0; line < lines; ++line) {
    if (kind == FORK) fork_at(line, lines);
    print_line(line, kind, steps);
    rest(milliseconds);
  }
  return 0;
}
