// Copies a file line by line to another, and to its standard output; with some work for each line, so that it is moved on the way.
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  FILE* in = fopen(argv[1], "r");
  FILE* out = fopen(argv[2], "w");
  if (!in || !out) return 3;
  static char line[256];
  volatile unsigned work = 0;
  while (fgets(line, sizeof line, in)) {
    for (unsigned i = 0; i < 2000000; ++i) work += i;
    fputs(line, out);
    fputs(line, stdout);
    fflush(stdout);
  }
  return fclose(out) == 0 ? 0 : 4;
}
