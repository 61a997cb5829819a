// Takes 256 MiB and writes to all of it. Exits with 7 if it got them, with 1 if it was refused.
#include <stdlib.h>
#include <string.h>

static char* volatile pieces[256];

int main(void) {
  for (int i = 0; i < 256; i++) {
    pieces[i] = malloc(1 << 20);
    if (pieces[i] == NULL) return 1;
    memset(pieces[i], 1, 1 << 20);
  }
  return 7;
}
