// Prints its arguments one per line, then copies its standard input. Exits with the number of its arguments.
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char buffer[4096];
  long got;
  for (int i = 1; i < argc; i++) puts(argv[i]);
  fflush(stdout);
  while ((got = read(0, buffer, sizeof buffer)) > 0) write(1, buffer, got);
  return argc;
}
