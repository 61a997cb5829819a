// Copies its standard input line by line, with some work for each: it is suspended or killed somewhere on the way.
#include <stdio.h>

int main(void) {
  static char line[256];
  volatile unsigned work = 0;
  while (fgets(line, sizeof line, stdin)) {
    for (unsigned i = 0; i < 60000; ++i) work += i;
    fputs(line, stdout);
  }
  return ferror(stdin) ? 1 : 0;
}
