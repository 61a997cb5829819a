// Does what its first argument says; the tests of the command line look at what comes out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int copy(const char* from, const char* to) {
  FILE* in = fopen(from, "rb");
  FILE* out = in ? fopen(to, "wb") : NULL;
  if (!in || !out) {
    perror(in ? to : from);
    return 9;
  }
  for (int c = fgetc(in); c != EOF; c = fgetc(in)) fputc(c, out);
  return fclose(out) == 0 ? 0 : 9;
}

static int spin(void) {
  volatile unsigned steps = 0;
  printf("spinning\n");
  fflush(stdout);
  for (;;) ++steps;
}

// With `ask` it waits in the middle until it can read a byte, or the end of its input.
static int count(unsigned n, int ask) {
  volatile unsigned work = 0;
  for (unsigned i = 0; i < n; ++i) {
    if (ask && i == n / 2) getchar();
    for (unsigned j = 0; j < 2000000; ++j) work += j;
    printf("%u\n", i);
    fflush(stdout);
  }
  return 0;
}

static int grow(void) {
  static char* volatile last;  // else the compiler sees that nobody needs the memory
  for (size_t total = 0;; total += 1 << 20) {
    char* block = malloc(1 << 20);
    if (!block) return 8;
    memset(block, 1, 1 << 20);
    last = block;
  }
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "exit")) return atoi(argv[2]);
  if (!strcmp(what, "env")) return puts(getenv(argv[2]) ? getenv(argv[2]) : "(none)") < 0;
  if (!strcmp(what, "cat")) {
    for (int c = getchar(); c != EOF; c = getchar()) putchar(c);
    return 0;
  }
  if (!strcmp(what, "err")) return fputs("to stderr\n", stderr) < 0;
  if (!strcmp(what, "bytes")) return fwrite("\xff\xfe\x00\x01", 1, 4, stdout) != 4;
  if (!strcmp(what, "copy")) return copy(argv[2], argv[3]);
  if (!strcmp(what, "spin")) return spin();
  if (!strcmp(what, "count")) return count((unsigned)atoi(argv[2]), argc > 3 && !strcmp(argv[3], "ask"));
  if (!strcmp(what, "grow")) return grow();
  if (!strcmp(what, "trap")) __builtin_trap();
  if (!strcmp(what, "yes"))
    for (;;) puts("y");
  for (int i = 1; i < argc; ++i) printf("%s\n", argv[i]);
  return 0;
}
