// Recurses without end, with little on the stack of linear memory.
#include <stdlib.h>

static int descend(volatile int* depth) { return ++*depth == 0 ? 0 : descend(depth) + *depth; }

int main(void) {
  volatile int depth = 1;
  return descend(&depth);
}
