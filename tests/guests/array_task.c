// One task of an array: a number of steps that cannot be skipped, a line of output now and then.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const char* task = getenv("GODWIT_TASK");
  const char* tasks = getenv("GODWIT_TASKS");
  const long steps = argc > 1 ? atol(argv[1]) : 1000000;
  const long lines = argc > 2 ? atol(argv[2]) : 4;
  uint64_t state = 0x9e3779b97f4a7c15u + (task ? strtoull(task, 0, 10) : 0);
  for (long line = 0; line < lines; line++) {
    for (long i = 0; i < steps; i++) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
    }
    printf("task %s of %s, line %ld: %016llx\n", task ? task : "?", tasks ? tasks : "?", line, (unsigned long long)state);
    fflush(stdout);
  }
  return 0;
}
