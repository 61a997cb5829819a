// A task of an array: array_work WHAT ARGUMENT.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* volatile kept;  // so that the compiler does not leave out what nobody reads

static unsigned compute(long steps, unsigned value) {
  for (volatile long i = 0; i < steps; i++) value = value * 1664525u + 1013904223u;
  return value;
}

int main(int argc, char** argv) {
  const char* number = getenv("GODWIT_TASK");
  const char* name = getenv("NAME");
  if (argc < 2 || number == NULL) return 99;
  const int task = atoi(number);
  const char* what = argv[1];
  const int argument = argc > 2 ? atoi(argv[2]) : 0;
  if (strcmp(what, "echo") == 0) return printf("%s %s\n", argv[2], name) < 0;
  printf("task %d of %s\n", task, getenv("GODWIT_TASKS"));
  if (strcmp(what, "fail") == 0 && task % argument == 3) return 1 + task % 5;
  if (strcmp(what, "bomb") == 0 && task == argument)
    for (;;) {
      kept = malloc(1 << 20);
      if (kept == NULL) abort();
      memset(kept, 1, 1 << 20);
    }
  if (strcmp(what, "spin") == 0 && task == argument)
    for (volatile unsigned i = 0;; i++) {
    }
  if (strcmp(what, "mixed") == 0) {
    const long steps = task % argument == 0 ? 600000000 : 20000000;
    printf("%u\n", compute(steps, (unsigned)task));
  }
  return 0;
}
