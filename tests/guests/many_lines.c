// Prints so many lines of 64 bytes as the second argument says, each with the first argument and its number.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int number = atoi(argv[1]);
  const int lines = atoi(argv[2]);
  for (int line = 0; line < lines; ++line) printf("%-30d %-31d.\n", number, line);
  return 0;
}
