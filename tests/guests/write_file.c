// Writes a file at the path that is its argument.
#include <stdio.h>

int main(int argc, char** argv) {
  FILE* file = argc == 2 ? fopen(argv[1], "w") : NULL;
  if (file == NULL) return 1;
  fputs("content\n", file);
  return fclose(file) == 0 ? 0 : 1;
}
