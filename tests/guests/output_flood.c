// Writes without end.
#include <string.h>
#include <unistd.h>

static char block[65536];

int main(void) {
  memset(block, 'x', sizeof block);
  for (;;) write(1, block, sizeof block);
}
