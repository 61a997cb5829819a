// A task of an array: any_task WHAT NUMBER. The task of that number does WHAT, all others print their line and end.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__attribute__((import_module("godwit"), import_name("fork"))) int32_t fork_thread(uint64_t* child);
__attribute__((import_module("godwit"), import_name("checkpoint"))) void checkpoint(void);

static int runs;  // more than one if the instance was not put back
static char block[65536];

static void spin(void) {
  for (volatile unsigned i = 0;; i++) {
  }
}

static void rest(long milliseconds) {
  const struct timespec wanted = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&wanted, 0);
}

static int act(const char* what) {
  struct timespec now;
  uint64_t child = 0;
  if (strcmp(what, "spin") == 0) spin();
  if (strcmp(what, "trap") == 0) __builtin_trap();
  if (strcmp(what, "exit") == 0) return 7;
  if (strcmp(what, "grow") == 0) memset(malloc(64 << 20), 1, 64 << 20);
  if (strcmp(what, "nap") == 0) rest(20);
  if (strcmp(what, "sleep") == 0) rest(300000);
  if (strcmp(what, "checkpoint") == 0) checkpoint();
  if (strcmp(what, "flood") == 0)
    for (int i = 0; i < 32; i++) write(1, block, sizeof block);
  if (strcmp(what, "clock") == 0 || strcmp(what, "clock_fork") == 0)
    for (int i = 0; i < 3; i++) clock_gettime(CLOCK_REALTIME, &now);
  if (strcmp(what, "read") == 0) return getchar() == EOF ? 5 : 6;
  if (strcmp(what, "fork") == 0 || strcmp(what, "clock_fork") == 0) {
    if (fork_thread(&child) != 0) return 1;
    puts(child == 0 ? "child" : "parent");
  }
  if (strcmp(what, "file") == 0) {
    FILE* file = fopen("in/data", "r");
    char text[16] = "";
    if (file == 0 || fgets(text, sizeof text, file) == 0) return 2;
    printf("%s\n", text);
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* task = getenv("GODWIT_TASK");
  if (argc < 3 || task == 0) return 3;
  memset(block, 'x', sizeof block);
  printf("task %s of %s, run %d\n", task, getenv("GODWIT_TASKS"), ++runs);
  fflush(stdout);
  const int all = strcmp(argv[2], "all") == 0;
  return all || strcmp(argv[2], task) == 0 ? act(argv[1]) : 0;
}
